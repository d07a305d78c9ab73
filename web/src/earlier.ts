import { explain } from "./api.ts";
import type { EventPage } from "./events.ts";

/** How near to its beginning a reader must be for the page before to come by itself. */
const NEAR_START_PX = 200;

type Earlier = {
  scroller: HTMLElement;
  button: HTMLButtonElement;
  read: (page: string) => Promise<EventPage>;
  /** Puts them in front of what is there. */
  show: (events: EventPage["events"]) => void;
  report: (message: string) => void;
};

/**
 * Brings what was before the events that are shown, a page at a time: by its button, and when somebody
 * scrolls near it. What is read stays where it is.
 */
export function createEarlier({ scroller, button, read, show, report }: Earlier) {
  let next = "";
  let loading = false;

  function from(page: string): void {
    next = page;
    loading = false;
    draw();
  }

  function draw(): void {
    button.hidden = next === "";
    button.disabled = loading;
    button.textContent = loading ? "Loading…" : "Load earlier";
  }

  async function load(): Promise<void> {
    if (loading || next === "") return;
    const page = next;
    loading = true;
    draw();
    try {
      const { events, earlier } = await read(page);
      // Meanwhile it may have begun anew.
      if (next !== page) return;
      const fromEnd = scroller.scrollHeight - scroller.scrollTop;
      show(events);
      scroller.scrollTop = scroller.scrollHeight - fromEnd;
      from(earlier);
    } catch (error) {
      if (next !== page) return;
      report(`Cannot load earlier events: ${explain(error)}`);
      from(page);
    }
  }

  const pressed = () => void load();
  const scrolled = () => {
    if (scroller.clientHeight > 0 && scroller.scrollTop < NEAR_START_PX) void load();
  };
  button.addEventListener("click", pressed);
  scroller.addEventListener("scroll", scrolled);
  from("");

  return {
    /** The page before what is shown; "" for none. */
    from,
    close(): void {
      from("");
      button.removeEventListener("click", pressed);
      scroller.removeEventListener("scroll", scrolled);
    },
  };
}
