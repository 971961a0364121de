/** An item's place in a bag, to take it out by. */
export type Held<Item> = { readonly item: Item; place: number };

/**
 * What comes and goes by the thousand, in no order. For that a Set is a trap: whenever its table is made anew the old table
 * points to the new one, so that a table which outlived its use keeps everything alive that was ever in those after it,
 * until the next full collection; each scavenge then copies whole requests that ended long ago.
 */
export class Bag<Item> {
  private readonly held: Held<Item>[] = [];

  get size(): number {
    return this.held.length;
  }

  add(item: Item): Held<Item> {
    const held = { item, place: this.held.length };
    this.held.push(held);
    return held;
  }

  /** Takes it out; nothing happens the second time. */
  remove(held: Held<Item>): void {
    if (held.place < 0) return;
    const last = this.held.pop();
    if (last && last !== held) {
      this.held[held.place] = last;
      last.place = held.place;
    }
    held.place = -1;
  }

  /** What is in it now; others may come and go while these are looked at. */
  all(): Held<Item>[] {
    return [...this.held];
  }

  some(is: (item: Item) => boolean): boolean {
    return this.held.some(({ item }) => is(item));
  }
}
