import { need } from "./element.ts";

type Actions = { send: (text: string) => void; stop: () => void };

/** The input below the conversation. It keeps its text when the session changes. */
export function createComposer(actions: Actions) {
  const form = need("composer", HTMLFormElement);
  const input = need("message-input", HTMLTextAreaElement);
  const send = need("send", HTMLButtonElement);
  const stop = need("stop", HTMLButtonElement);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text === "" || input.disabled) return;
    input.value = "";
    actions.send(text);
    input.focus();
  });
  input.addEventListener("keydown", (event) => {
    // An Enter that ends the composition of a character is not meant for us.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  stop.addEventListener("click", () => {
    stop.disabled = true;
    actions.stop();
  });

  const invitation = input.placeholder;

  function setEnabled(enabled: boolean): void {
    input.disabled = !enabled;
    input.placeholder = enabled ? invitation : "Open a session to write";
    send.disabled = !enabled;
  }
  setEnabled(false);

  return {
    setEnabled,
    setRunning(running: boolean): void {
      if (stop.hidden && running) stop.disabled = false;
      if (!running && document.activeElement === stop) input.focus();
      stop.hidden = !running;
    },
    /** The stop request failed: it may be asked for again. */
    allowStop(): void {
      stop.disabled = false;
    },
    focus: () => input.focus(),
  };
}

export type Composer = ReturnType<typeof createComposer>;
