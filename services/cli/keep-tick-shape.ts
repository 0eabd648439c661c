import { createHook } from 'node:async_hooks';

const kept: object[] = [];

/**
 * Keeps an object of the kind that `process.nextTick` makes. V8 forgets the shape of objects if a garbage collection finds none alive, and
 * treats the next one as another shape. From then on each call of `process.nextTick` takes ten times as long.
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
