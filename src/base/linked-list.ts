/** A member of a LinkedList. It stores its own links, so that removing it needs no search. It is in one list at most. */
export interface ListNode<T> {
  previous: T | undefined;
  next: T | undefined;
}

/**
 * A doubly linked list in insertion order. A Set or Map scans past every entry deleted at its front, which makes a queue
 * of 40,000 entries slower than all the work around it. With additions and deletions at each request it also leaves its
 * outgrown tables, and through them finished requests, to slow garbage collections: with a Set of active runs, runs of 16
 * clients take 8 % more processor time, and the process a fifth more memory.
 */
export class LinkedList<T extends ListNode<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get first(): T | undefined {
    return this.#first;
  }

  get last(): T | undefined {
    return this.#last;
  }

  get size(): number {
    return this.#size;
  }

  /** A copy of the list: members may leave while the copy is iterated. */
  all(): T[] {
    const members: T[] = [];
    for (let member = this.#first; member; member = member.next) members.push(member);
    return members;
  }

  /** Appends a member that is in no list. */
  add(member: T): void {
    member.previous = this.#last;
    member.next = undefined;
    if (this.#last) this.#last.next = member;
    else this.#first = member;
    this.#last = member;
    this.#size += 1;
  }

  /** Removes a member of this list. */
  remove(member: T): void {
    const { previous, next } = member;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    member.previous = undefined;
    member.next = undefined;
    this.#size -= 1;
  }
}
