import { createHook } from 'node:async_hooks';

const kept: object[] = [];

/**
 * Keeps an object of the kind that `process.nextTick` makes. V8 forgets the shape of objects when a collection finds none
 * alive, and takes it for another shape when it comes again. From then on each call of `process.nextTick` takes ten times
 * as long.
 */
export function keepTickShape(): void {
  const hook = createHook({
    init(_id, type, _trigger, made) {
      if (type === 'TickObject') kept.push(made);
    },
  }).enable();
  process.nextTick(() => {});
  hook.disable();
}
