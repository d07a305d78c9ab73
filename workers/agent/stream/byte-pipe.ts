// Bytes on their way to one client.

export interface BytePipe {
  /** For the client. */
  readable: ReadableStream<Uint8Array>;
  /**
   * Takes the bytes away from the caller, and resolves when they have been read. Rejects where the
   * client has left.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Runs once where the client leaves before the end, as far as the platform tells. */
  onLeft(left: () => void): void;
  /** Nothing follows. */
  close(): Promise<void>;
  /** What was promised does not come: the client sees that its answer is cut off. */
  abort(reason: unknown): Promise<void>;
}

export function openPipe(): BytePipe {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  return {
    readable,
    async write(bytes) {
      await writer.write(bytes);
      // They have been copied. Left to a collection they would pile up: it comes by the size of the
      // heap, and buffers lie beside that.
      if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
    },
    onLeft: (left) => void writer.closed.catch(left),
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  };
}
