// The time as people at a place have it: its day and its clock. Whoever calls hands the time in.

/** A day of the calendar at a place. */
export interface Day {
  /** "2026-12-01" */
  date: string;
  /** IANA name of the time zone, as in "Europe/Berlin". */
  zone: string;
}

/** An offset such as "+01:00" is no name of a zone: it would be wrong for half of the year. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** Whether this is the name of a time zone that the runtime knows. */
export function isTimeZone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The day at a moment (milliseconds since the epoch). Throws a RangeError for a zone that is none. */
export function dayOf(at: number, zone: string): Day {
  return { date: partsOf(at, zone).date, zone };
}

/** "Tuesday, 2026-12-01 (time zone Europe/Berlin)" */
export function dayInWords({ date, zone }: Day): string {
  return `${weekday(date)}, ${date} (time zone ${zone})`;
}

/** "Tuesday, 2026-12-01, 23:50 (time zone Europe/Berlin)"; arguments as of `dayOf`. */
export function timeInWords(at: number, zone: string): string {
  const { date, clock } = partsOf(at, zone);
  return `${weekday(date)}, ${date}, ${clock} (time zone ${zone})`;
}

function partsOf(at: number, timeZone: string): { date: string; clock: string } {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const join = (separator: string, types: Intl.DateTimeFormatPartTypes[]) =>
    types.map((type) => parts.get(type) ?? "").join(separator);
  return { date: join("-", ["year", "month", "day"]), clock: join(":", ["hour", "minute"]) };
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

function weekday(date: string): string {
  return WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? "";
}
