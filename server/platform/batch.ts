/**
 * Batches items that arrive in one turn of the event loop or while earlier ones are being sent: they wait for a free slot of
 * `slots`, and then leave in one call of at most `most`. `send` returns one result per item, in order.
 * If a batch of several fails, each item is tried alone, so that one bad item fails no other. With `apart`, items of one name
 * never share a batch, and a batch is in the order of names: statements that lock the named rows then lock them in one order
 * everywhere.
 */
export function batched<Item, Result>(
  send: (items: Item[]) => Promise<Result[]>,
  { slots = 2, most = 128, apart }: { slots?: number; most?: number; apart?: (item: Item) => string } = {},
): (item: Item) => Promise<Result> {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (cause: unknown) => void };
  let waiting: Waiting[] = [];
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

  function nextGroup(): Waiting[] {
    if (!apart || waiting.length === 1) return waiting.splice(0, most);
    const group = new Map<string, Waiting>();
    const later: Waiting[] = [];
    for (const each of waiting) {
      const name = apart(each.item);
      if (group.size < most && !group.has(name)) group.set(name, each);
      else later.push(each);
    }
    waiting = later;
    return [...group].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
  }

  function drain() {
    while (free > 0 && waiting.length > 0) {
      free--;
      void flush(nextGroup()).finally(() => {
        free++;
        drain();
      });
    }
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // Runs after the current turn of the loop, so that requests parsed in the same turn share a statement.
      if (waiting.length === 1) setImmediate(drain);
    });
}

/** Batches writes; true for each item whose id is among the written rows. Items of one id never share a statement. */
export const writtenTogether = <Item>(
  idOf: (item: Item) => string,
  write: (items: Item[]) => Promise<{ id: string }[]>,
): ((item: Item) => Promise<boolean>) =>
  batched(
    async (items) => {
      const written = new Set((await write(items)).map(({ id }) => id));
      return items.map((item) => written.has(idOf(item)));
    },
    { apart: idOf },
  );

/** Batches reads that find at most one row for an item: the row with the item's place, or null. */
export const readTogether = <Item, Row extends { place: number }>(
  read: (items: (Item & { place: number })[]) => Promise<Row[]>,
): ((item: Item) => Promise<Row | null>) =>
  batched(async (items) => {
    const rows = await read(items.map((item, place) => ({ ...item, place })));
    const found = new Map(rows.map((row) => [row.place, row]));
    return items.map((_, place) => found.get(place) ?? null);
  });

/** Batches reads that find any number of rows for an item. */
export const listedTogether = <Item, Row extends { place: number }>(
  read: (items: (Item & { place: number })[]) => Promise<Row[]>,
): ((item: Item) => Promise<Row[]>) =>
  batched(async (items) => {
    const found = items.map((): Row[] => []);
    for (const row of await read(items.map((item, place) => ({ ...item, place }))))
      found[row.place]?.push(row);
    return found;
  });
