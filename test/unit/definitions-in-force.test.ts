import { expect, it } from 'vitest';
import { trackDefinitions } from '../../services/content-types/definitions-in-force.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { notInForce, type TypeDefinition } from '../../shared/schema/type-definitions.ts';

const definition = (label: string) => ({ uid: 'api::dish.dish', label }) as unknown as TypeDefinition;
const event = (type: string, epoch: number, data: unknown, extra: object = {}) =>
  ({ type, data, metadata: { epoch }, ...extra }) as unknown as StoredEvent;
const defined = (label: string, epoch: number, extra?: object) =>
  event('content-type-defined', epoch, definition(label), extra);
const [UID, OLD, NEW] = ['api::dish.dish', definition('old'), definition('new')];

it('uses the newest definition, and returns the one that it replaces', () => {
  const inForce = trackDefinitions(1);
  expect(inForce.text(UID)).toBeUndefined();
  expect(inForce.apply(defined('old', 1))).toEqual({ now: OLD, before: undefined });
  expect(inForce.apply(defined('new', 1))).toEqual({ now: NEW, before: JSON.stringify(OLD) });
  expect(inForce.text(UID)).toBe(JSON.stringify(NEW));
});

it('begins with the known definitions', () => {
  const inForce = trackDefinitions(1, () => JSON.stringify(OLD));
  expect(notInForce([OLD], inForce.text)).toEqual([]);
  expect(notInForce([NEW], inForce.text)).toEqual([NEW]);
  expect(inForce.apply(defined('new', 1))).toEqual({ now: NEW, before: JSON.stringify(OLD) });
});

it('skips fenced and unreadable definitions', () => {
  const inForce = trackDefinitions(1);
  inForce.apply(defined('old', 1));
  inForce.apply(event('leader-elected', 2, { epoch: 2 }));
  expect(inForce.apply(defined('new', 1))).toBeUndefined();
  expect(inForce.apply(defined('new', 2, { unreadable: { kind: 'damaged' } }))).toBeUndefined();
  expect(inForce.text(UID)).toBe(JSON.stringify(OLD));
  expect(inForce.apply(defined('new', 2))).toMatchObject({ now: NEW });
});
