import { expect, it } from "vitest";
import { MASK } from "../../shared/safety/secret-scan.ts";
import { createSecretMask } from "./secret-mask.ts";
import { KEYS, key, pem } from "./secret-scan-fixture.ts";

const mask = createSecretMask();

it.each(Object.entries(KEYS))(
  "takes %s out and leaves the words around it",
  async (_what, value) => {
    const masked = await mask(`use “${value}” for staging, when do we deploy?`);
    expect(masked).toContain(MASK);
    expect(masked).not.toContain(value);
    // Not even a half of it.
    expect(masked).not.toContain(value.slice(-12));
    expect(masked).toMatch(/^use /);
    expect(masked).toMatch(/deploy\?$/);
  },
);

it("takes out a value that a word announces, and each of several", async () => {
  const secret = key("Kx9mQ2vL", "7pRt4ZsW");
  const masked = await mask(`the password: ${secret} and api_key=${secret}, done`);
  expect(masked).toBe(`the ${MASK} and ${MASK}, done`);
});

it("takes out a private key with all of its lines, whatever comes behind it", async () => {
  for (const text of [pem("RSA PRIVATE KEY", "\n"), pem("OPENSSH PRIVATE KEY", "\\n")]) {
    const masked = await mask(`here: ${text}\nthanks`);
    expect(masked).toBe(`here: ${MASK}`);
  }
});

it("leaves a text without a secret as it is", async () => {
  for (const text of ["", "Where is the token checked?", "password: <yours> 测试"]) {
    expect(await mask(text)).toBe(text);
  }
});

it("says nothing of the text where the scanner fails", async () => {
  const broken = createSecretMask([
    {
      messages: {},
      meta: { id: "broken", type: "scanner", recommended: true, supportedContentTypes: ["text"] },
      create: () => ({
        file({ content }) {
          throw new Error(content);
        },
      }),
    },
  ]);
  const error = await broken("hunter2").catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "unavailable" });
  expect(String(error)).not.toContain("hunter2");
  expect(error).not.toHaveProperty("cause");
});
