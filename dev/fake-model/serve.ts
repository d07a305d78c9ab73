import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { FakeModel } from "./fake-model.ts";

export interface Served {
  url: string;
  port: number;
  /** Ends open connections too, so that a stalled stream cannot hold a test. */
  close(): Promise<void>;
}

/** Serves a fake model on a loopback port; 0 takes a free one. Never listens on another address. */
export async function serveFakeModel(
  fakeModel: Pick<FakeModel, "handle">,
  { port = 0 }: { port?: number } = {},
): Promise<Served> {
  const server = createServer((incoming, outgoing) => {
    answer(fakeModel, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const held = new Set<Request>();

// A handler or a body that fails breaks the connection: that is how "cut" looks from outside.
async function answer(
  fakeModel: Pick<FakeModel, "handle">,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort(new Error("The client went away"));
  });
  const request = await requestFrom(incoming, gone.signal);
  // Node passes no abort on to a request that the collector took.
  held.add(request);
  outgoing.once("close", () => held.delete(request));
  const response = await fakeModel.handle(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  if (reader) await pump(reader, outgoing);
  outgoing.end();
}

// Asks for a chunk when the one before is on its way, so that a cut comes after what it follows.
async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  outgoing: ServerResponse,
): Promise<void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const chunk = next.value;
    await new Promise<void>((resolve, reject) => {
      outgoing.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  }
}

async function requestFrom(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const method = incoming.method ?? "GET";
  const body = method === "GET" || method === "HEAD" ? null : Buffer.concat(chunks);
  return new Request(`http://127.0.0.1${incoming.url ?? "/"}`, { method, headers, body, signal });
}
