import { expect, test } from "vitest";
import { dayInWords, dayOf, isTimeZone, timeInWords } from "./local-time.ts";

const at = (iso: string) => Date.parse(iso);

test("ten minutes before and after midnight are two days, by the clock of the zone", () => {
  const before = at("2026-12-01T22:50:00Z");
  const after = at("2026-12-01T23:10:00Z");
  expect([before, after].map((time) => timeInWords(time, "Europe/Berlin"))).toEqual([
    "Tuesday, 2026-12-01, 23:50 (time zone Europe/Berlin)",
    "Wednesday, 2026-12-02, 00:10 (time zone Europe/Berlin)",
  ]);
  expect(dayOf(after, "UTC")).toEqual({ date: "2026-12-01", zone: "UTC" });
  expect(dayOf(before, "Asia/Tokyo").date).toBe("2026-12-02");
});

test("a day in words says weekday, ISO date and zone, and needs no clock", () => {
  expect(dayInWords({ date: "2028-02-29", zone: "America/New_York" })).toBe(
    "Tuesday, 2028-02-29 (time zone America/New_York)",
  );
  // The hour that a change of the clock leaves out or repeats changes no day.
  expect(dayOf(at("2026-10-25T00:30:00Z"), "Europe/Berlin").date).toBe("2026-10-25");
  expect(timeInWords(at("2026-03-29T01:30:00Z"), "Europe/Berlin")).toContain(", 03:30 ");
});

test.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia/Kolkata"])(
  "%s is a time zone",
  (name) => expect(isTimeZone(name)).toBe(true),
);

test.each([
  "",
  " ",
  "Berlin",
  "Mars/Base",
  "+01:00",
  "UTC+1",
  " UTC",
  "UTC ",
  "Europe/Berlin\n",
  "a/../b",
])("%j is none", (name) => expect(isTimeZone(name)).toBe(false));
