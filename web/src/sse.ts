export type SseFrame = { event: string; id: string | undefined; data: string };

/**
 * Parses a stream of server-sent events from text chunks that may end anywhere. Unlike a browser's
 * EventSource, `id` is the frame's own (a frame without one has none), and comments are dropped.
 * A frame whose blank line never came is not given out: it was cut, and a resume brings it whole.
 */
export function createSseParser(): (chunk: string) => SseFrame[] {
  let rest = "";
  let afterCr = false;
  let event = "";
  let id: string | undefined;
  let data: string[] = [];

  function endFrame(): SseFrame | undefined {
    const frame =
      data.length > 0 ? { event: event || "message", id, data: data.join("\n") } : undefined;
    event = "";
    id = undefined;
    data = [];
    return frame;
  }

  function takeLine(line: string): void {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? "" : line.slice(colon + 1);
    const value = raw.startsWith(" ") ? raw.slice(1) : raw;
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  }

  return (chunk) => {
    const frames: SseFrame[] = [];
    // A CR at the end of one chunk and a LF at the start of the next are one line end.
    const text = afterCr && chunk.startsWith("\n") ? chunk.slice(1) : chunk;
    if (chunk !== "") afterCr = chunk.endsWith("\r");
    const lines = (rest + text).split(/\r\n|\r|\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") {
        takeLine(line);
        continue;
      }
      const frame = endFrame();
      if (frame) frames.push(frame);
    }
    return frames;
  };
}

/** Frames of a byte stream; a character split over two chunks is put together first. */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<SseFrame> {
  const parse = createSseParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
