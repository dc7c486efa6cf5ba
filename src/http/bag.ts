/** What a bag needs to find a member again. Only the bag writes it. */
export interface Bagged {
  place: number;
}

/**
 * The members of the moment, in no order. A `Set` that is added to and deleted from with every request leaves its
 * outgrown tables, and through them whole finished requests, to the garbage collector's slow side: with one, runs of 16
 * clients take 8 % more processor time, and the process a fifth more memory.
 */
export class Bag<T extends Bagged> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  delete(member: T): void {
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[member.place] = last;
    last.place = member.place;
  }

  /** The members now; they may leave while these are gone through. */
  all(): readonly T[] {
    return [...this.#members];
  }
}
