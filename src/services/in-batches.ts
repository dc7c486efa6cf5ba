/** Does it again and again until it has dealt with fewer than `size`, and gives how many that were together. */
export async function inBatches(size: number, signal: AbortSignal, act: () => Promise<number>): Promise<number> {
  for (let count = 0; ;) {
    signal.throwIfAborted();
    const done = await act();
    count += done;
    if (done < size) return count;
  }
}
