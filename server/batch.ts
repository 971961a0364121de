/**
 * Gathers items that arrive while earlier ones are on their way and sends them together.
 * Idle: an item leaves at once. Busy: it waits for one of `slots` to be free, then all that waits leaves in one call.
 * When a batch of several fails, each item is tried alone, so that one bad item harms no other.
 */
export function batched<Item, Result>(
  send: (items: Item[]) => Promise<Result[]>,
  { slots = 2, most = 128 }: { slots?: number; most?: number } = {},
): (item: Item) => Promise<Result> {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (cause: unknown) => void };
  const waiting: Waiting[] = [];
  let free = slots;

  async function flush(group: Waiting[]) {
    try {
      const results = await send(group.map((each) => each.item));
      for (const [position, each] of group.entries()) each.resolve(results[position]!);
    } catch (cause) {
      if (group.length === 1) group[0]!.reject(cause);
      else for (const each of group) await flush([each]);
    }
  }

  function drain() {
    while (free > 0 && waiting.length > 0) {
      free--;
      void flush(waiting.splice(0, most)).finally(() => {
        free++;
        drain();
      });
    }
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // After the current turn of the loop, so that requests parsed in the same turn share a statement.
      if (waiting.length === 1) setImmediate(drain);
    });
}
