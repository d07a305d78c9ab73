import { expect, test } from "vitest";
import { parseSettings, settingsSchema } from "./schema.ts";

const STRICT = { autoMemoryEnabled: "unclear", privateSecretScan: "refuse" };

test("known keys are read, unknown ones are kept", () => {
  const text =
    '{"autoMemoryEnabled":false,"autoMemoryDirectory":"~/mem","privateSecretScan":"warn","time_zone":"Asia/Tokyo","hooks":{"a":[1]}}';
  expect(parseSettings(text)).toEqual({ settings: JSON.parse(text), problems: [] });
  expect(parseSettings("{}")).toEqual({ settings: {}, problems: [] });
  expect(parseSettings('\uFEFF{"autoMemoryEnabled":true}\r\n')).toMatchObject({ problems: [] });
});

test.each([
  ['{"autoMemoryEnabled":"false"}', "autoMemoryEnabled", "must be true or false"],
  ['{"autoMemoryEnabled":"no"}', "autoMemoryEnabled", "must be true or false"],
  ['{"autoMemoryEnabled":null}', "autoMemoryEnabled", "must be true or false"],
  ['{"autoMemoryEnabled":0}', "autoMemoryEnabled", "must be true or false"],
  ['{"autoMemoryDirectory":["/a/b"]}', "autoMemoryDirectory", "must be a path"],
  ['{"privateSecretScan":"off"}', "privateSecretScan", 'must be "refuse" or "warn"'],
  ['{"privateSecretScan":"Warn"}', "privateSecretScan", 'must be "refuse" or "warn"'],
  ['{"time_zone":"Mars/Base"}', "time_zone", 'must be an IANA name, such as "Europe/Berlin"'],
  ['{"time_zone":60}', "time_zone", "must be an IANA name"],
  ['{"automemoryenabled":true}', "automemoryenabled", "is no setting; write autoMemoryEnabled"],
  ['{"auto_memory_enabled":false}', "auto_memory_enabled", "write autoMemoryEnabled"],
  ['{"Private-Secret-Scan":"warn"}', "Private-Secret-Scan", "write privateSecretScan"],
])(
  "TRUTH-04: what is not documented names the key, in a file and in a body: %s",
  (text, key, reason) => {
    expect(parseSettings(text).problems).toEqual([
      { key, reason: expect.stringContaining(reason) },
    ]);
    const sent = settingsSchema.safeParse(JSON.parse(text));
    expect(sent.error?.issues).toMatchObject([
      { path: [key], message: expect.stringContaining(reason) },
    ]);
  },
);

test("TRUTH-04: a key that cannot be read counts as the strictest, and the others as they are", () => {
  const text =
    '{"autoMemoryEnabled":"no","privateSecretScan":"none","autoMemoryDirectory":"/data/mem","time_zone":"x"}';
  expect(parseSettings(text).settings).toEqual({ ...STRICT, autoMemoryDirectory: "/data/mem" });
  expect(parseSettings('{"autoMemoryDirectory":5,"autoMemoryEnabled":true}').settings).toEqual({
    autoMemoryEnabled: true,
  });
  const twice = '{"autoMemoryEnabled":true,"AUTO_MEMORY_ENABLED":false,"autoMemoryDirectory":5}';
  expect(parseSettings(twice).settings.autoMemoryEnabled).toBe("unclear");
});

test.each(["", " ", "{", "{'a':1}", "{} {}", "undefined", `${"[".repeat(100_000)}`, "\u0000"])(
  "what is not JSON counts as the strictest and never throws: %j",
  (text) => {
    expect(parseSettings(text.slice(0, 200_000))).toEqual({
      settings: STRICT,
      problems: [{ key: undefined, reason: "the file is not valid JSON" }],
    });
  },
);

test.each(["[]", "null", "1", '"x"', "true"])("so does JSON that is no object: %s", (text) => {
  expect(parseSettings(text)).toEqual({
    settings: STRICT,
    problems: [{ key: undefined, reason: "the settings must be a JSON object" }],
  });
});

test("a reason never shows a value, which may be a secret", () => {
  const result = parseSettings('{"privateSecretScan":"sk-secret-value"}');
  expect(JSON.stringify(result)).not.toContain("sk-secret");
});

test("a key of that name does not reach the prototype", () => {
  const { settings } = parseSettings('{"__proto__":{"autoMemoryEnabled":false}}');
  expect(settings.autoMemoryEnabled).toBeUndefined();
});
