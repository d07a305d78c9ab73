import { expect, test } from "vitest";
import { parseSettings } from "./schema.ts";

test("known keys are read, unknown ones are kept", () => {
  const text =
    '{"autoMemoryEnabled":false,"autoMemoryDirectory":"~/mem","privateSecretScan":"warn","hooks":{"a":[1]}}';
  expect(parseSettings(text)).toEqual({ status: "ok", settings: JSON.parse(text) });
  expect(parseSettings("{}")).toEqual({ status: "ok", settings: {} });
  expect(parseSettings('\uFEFF{"autoMemoryEnabled":true}\r\n')).toMatchObject({ status: "ok" });
});

test.each([
  ['{"autoMemoryEnabled":"false"}', "autoMemoryEnabled: must be true or false"],
  ['{"autoMemoryEnabled":null}', "autoMemoryEnabled: must be true or false"],
  ['{"autoMemoryEnabled":0}', "autoMemoryEnabled: must be true or false"],
  ['{"autoMemoryDirectory":["/a/b"]}', "autoMemoryDirectory: must be a path"],
  ['{"privateSecretScan":"off"}', 'privateSecretScan: must be "refuse" or "warn"'],
])("a wrong type of a known key names the key: %s", (text, reason) => {
  expect(parseSettings(text)).toEqual({
    status: "invalid",
    reason: expect.stringContaining(reason),
  });
});

test.each(["", " ", "{", "{'a':1}", "{} {}", "undefined", `${"[".repeat(100_000)}`, "\u0000"])(
  "what is not JSON is invalid and never throws: %j",
  (text) => {
    expect(parseSettings(text.slice(0, 200_000))).toEqual({
      status: "invalid",
      reason: "the file is not valid JSON",
    });
  },
);

test.each(["[]", "null", "1", '"x"', "true"])("JSON that is no object is invalid: %s", (text) => {
  expect(parseSettings(text)).toEqual({
    status: "invalid",
    reason: "the settings must be a JSON object",
  });
});

test("a reason never shows a value, which may be a secret", () => {
  const result = parseSettings('{"privateSecretScan":"sk-secret-value"}');
  expect(JSON.stringify(result)).not.toContain("sk-secret");
});

test("a key of that name does not reach the prototype", () => {
  const result = parseSettings('{"__proto__":{"autoMemoryEnabled":false}}');
  expect(result.status).toBe("ok");
  if (result.status === "ok") expect(result.settings.autoMemoryEnabled).toBeUndefined();
});
