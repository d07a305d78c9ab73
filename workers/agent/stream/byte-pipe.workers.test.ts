import { expect, test } from "vitest";
import { openPipe } from "./byte-pipe.ts";

const bytes = () => new Uint8Array(100_000).fill(7);

test("what is written is with the client, and nowhere else, once the write is done", async () => {
  const pipe = openPipe();
  const reader = pipe.readable.getReader();
  const large = bytes();
  let done = false;
  const writing = pipe.write(large).then(() => {
    done = true;
  });
  let read = 0;
  while (read < 100_000) {
    expect([done, large.byteLength]).toEqual([false, 100_000]);
    const { value } = await reader.read();
    expect(value?.every((byte) => byte === 7)).toBe(true);
    read += value?.byteLength ?? 0;
  }
  await writing;
  // Left where they are, they would fill the memory until a collection comes.
  expect(large.byteLength).toBe(0);
  await pipe.close();
  expect((await reader.read()).done).toBe(true);
});

test("a write fails where its client leaves, and an aborted pipe ends in an error", async () => {
  const left = openPipe();
  const writing = expect(left.write(bytes())).rejects.toThrow();
  await left.readable.cancel();
  await writing;
  const cut = openPipe();
  const reading = expect(cut.readable.getReader().read()).rejects.toThrow("the log is gone");
  await cut.abort(new Error("the log is gone"));
  await reading;
});
