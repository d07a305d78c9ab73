import { describe, expect, it } from "vitest";
import { autoMemoryEnabled, type EnabledInput, type SettingsLayers } from "./enabled.ts";

const FALSE = { autoMemoryEnabled: false };
const TRUE = { autoMemoryEnabled: true };

function decide(input: Partial<EnabledInput>) {
  return autoMemoryEnabled({
    disable: undefined,
    simple: undefined,
    remoteMemoryDir: "/memory",
    bare: false,
    settings: {},
    ...input,
  });
}

describe("ENABLE-01: DISABLE_AUTO_MEMORY", () => {
  it.each(["1", "true", "TRUE", "yes", "on", " 1 ", "Yes", "\tON\n"])(
    "%j turns memory off",
    (disable) => {
      expect(decide({ disable, settings: { policy: TRUE } })).toEqual({
        enabled: false,
        rule: "DISABLE_AUTO_MEMORY is truthy",
      });
    },
  );

  it.each(["0", "false", "no", "off", " 0 ", "False", "OFF"])(
    "%j turns memory on and wins over all that follows",
    (disable) => {
      const input = { disable, simple: "1", bare: true, remoteMemoryDir: undefined };
      expect(decide({ ...input, settings: { policy: FALSE, user: FALSE } })).toEqual({
        enabled: true,
        rule: "DISABLE_AUTO_MEMORY is falsy",
      });
    },
  );

  it.each([undefined, "", " ", "maybe", "2", "00", "disabled"])("%j says nothing", (disable) => {
    expect(decide({ disable, settings: { user: FALSE } }).enabled).toBe(false);
    expect(decide({ disable, settings: { user: TRUE } }).enabled).toBe(true);
    expect(decide({ disable })).toEqual({ enabled: true, rule: "default" });
    expect(decide({ disable, bare: true }).rule).toBe("the session is bare");
  });
});

describe("ENABLE-02: remote mode", () => {
  const settings = { user: TRUE };
  it("without a memory directory memory is off, whatever the settings say", () => {
    expect(decide({ remoteMemoryDir: undefined, settings: { ...settings, policy: TRUE } })).toEqual(
      {
        enabled: false,
        rule: "REMOTE_MEMORY_DIR is not set",
      },
    );
  });
  it("with one the settings are asked", () => {
    expect(decide({ remoteMemoryDir: "/mnt/mem", settings })).toEqual({
      enabled: true,
      rule: "autoMemoryEnabled is true in the user settings",
    });
  });
  it("with one, DISABLE_AUTO_MEMORY still turns it off", () => {
    expect(decide({ remoteMemoryDir: "/mnt/mem", disable: "1", settings }).enabled).toBe(false);
  });
  it("a bare session and SIMPLE have none, and the rule says which", () => {
    expect(decide({ bare: true, settings })).toEqual({
      enabled: false,
      rule: "the session is bare",
    });
    expect(decide({ simple: " True", settings })).toEqual({
      enabled: false,
      rule: "SIMPLE is truthy",
    });
  });
  it.each(["0", "false", "", "maybe"])("SIMPLE=%j says nothing", (simple) => {
    expect(decide({ simple })).toEqual({ enabled: true, rule: "default" });
  });
});

describe("autoMemoryEnabled in the settings", () => {
  const CASES: [SettingsLayers, boolean, string][] = [
    [{}, true, "default"],
    [{ policy: FALSE, local: TRUE, project: TRUE, user: TRUE }, false, "policy"],
    [{ policy: TRUE, local: FALSE, project: FALSE, user: FALSE }, true, "policy"],
    [{ local: TRUE, project: FALSE, user: FALSE }, true, "local"],
    [{ local: FALSE, project: TRUE, user: TRUE }, false, "local"],
    [{ project: FALSE, user: TRUE }, false, "project"],
    [{ project: TRUE, user: FALSE }, false, "user"],
    [{ project: TRUE }, true, "default"],
    [{ user: FALSE }, false, "user"],
    [{ policy: {}, local: {}, project: {}, user: TRUE }, true, "user"],
  ];
  it.each(CASES)(
    "policy, local, project (off only), user: %j gives %s by %s",
    (settings, enabled, by) => {
      const rule = by === "default" ? by : `autoMemoryEnabled is ${enabled} in the ${by} settings`;
      expect(decide({ settings })).toEqual({ enabled, rule });
    },
  );
});

it("TRUTH-04: a layer that cannot be read says off, in its place of the chain", () => {
  const UNCLEAR = { autoMemoryEnabled: "unclear" as const };
  for (const source of ["policy", "local", "project", "user"] as const) {
    const settings: SettingsLayers = { [source]: UNCLEAR };
    expect(decide({ settings })).toEqual({
      enabled: false,
      rule: `what the ${source} settings say of auto memory cannot be read, so it is off`,
    });
  }
  expect(decide({ settings: { policy: TRUE, user: UNCLEAR } }).enabled).toBe(true);
  expect(decide({ settings: { local: UNCLEAR, user: TRUE } }).enabled).toBe(false);
});

it("ENABLE-04: a setting left over from elsewhere never turns memory on again", () => {
  const stale = { autoMemoryEnabled: false, memoryPolicy: "always", autoMemory: true };
  expect(decide({ settings: { user: stale } }).enabled).toBe(false);
});
