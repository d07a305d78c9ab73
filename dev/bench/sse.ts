import * as z from "zod";

const frame = z.looseObject({ type: z.string() });

/** The JSON of each event of a stream, as cheaply as may be: a client must not be what is measured. */
export async function* sseEvents(response: Response): AsyncGenerator<z.infer<typeof frame>> {
  if (!response.ok || !response.body) {
    throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  }
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data:")) yield frame.parse(JSON.parse(line.slice("data:".length)));
    }
  }
}
