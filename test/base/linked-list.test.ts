import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LinkedList, type ListNode } from '../../src/base/linked-list.ts';

interface Item extends ListNode<Item> {
  readonly id: number;
}

const item = (id: number): Item => ({ id, previous: undefined, next: undefined });

function idsIn(order: LinkedList<Item>): number[] {
  const ids: number[] = [];
  for (let next = order.first; next; next = next.next) ids.push(next.id);
  return ids;
}

it('keeps members in the order they came, whoever leaves or comes back', () => {
  const steps = fc.array(fc.record({ id: fc.nat(9), leaves: fc.boolean() }), { maxLength: 60 });

  fc.assert(
    fc.property(steps, (moves) => {
      const items = Array.from({ length: 10 }, (_, id) => item(id));
      const order = new LinkedList<Item>();
      const model = new Set<number>();
      for (const { id, leaves } of moves) {
        if (model.delete(id)) order.remove(items[id]!);
        if (leaves) continue;
        model.add(id);
        order.add(items[id]!);
      }

      expect(idsIn(order)).toEqual([...model]);
      expect(order.size).toBe(model.size);
    }),
  );
});

it('holds on to nothing that has left', () => {
  const order = new LinkedList<Item>();
  const [one, two] = [item(1), item(2)];
  order.add(one);
  order.add(two);

  order.remove(one);

  expect(one).toEqual(item(1));
  expect(order.first).toBe(two);
});
