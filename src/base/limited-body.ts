const newline = 10;

/** The same bytes, as long as no line is longer than `maxBytes`: for peers whose messages are lines, or whole bodies. */
export function limitedBody(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  onEnd: () => void = () => {},
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let length = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          onEnd();
          controller.close();
          return;
        }
        const last = value.lastIndexOf(newline);
        length = last < 0 ? length + value.length : value.length - last - 1;
        if (length > maxBytes) throw new RangeError(`The message is longer than ${maxBytes} bytes`);
        controller.enqueue(value);
      } catch (error) {
        onEnd();
        controller.error(error);
        await reader.cancel(error).catch(() => {});
      }
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}
