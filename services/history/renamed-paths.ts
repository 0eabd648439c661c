import type { ChangedNames } from '../../projections/journal/journal.ts';
import type { ContentTypeDefined } from '../../shared/document/events.ts';
import { definitionStream } from '../../shared/document/stream-name.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { PastOptions } from './document-at.ts';

/** Attributes by name, of a content type (its uid) and of the components that it may have. */
type Models = ReadonlyMap<Uid, ReadonlyMap<string, unknown>>;

/** A definition that renames something, and the one before it. */
type Renaming = { readonly position: bigint; readonly before: Models; readonly now: Models };

/** Returns the paths of now for a path of `ComponentParts` at a position. */
export type PathsOfNow = (path: string, position: bigint) => readonly string[];

/** Reads how the attributes of a content type, and of its components, were renamed. */
export async function readRenamedPaths(
  { events, space }: Pick<PastOptions, 'events' | 'space'>,
  type: Uid,
): Promise<PathsOfNow> {
  const renamings: Renaming[] = [];
  let last: Models = new Map();
  for await (const event of events.stream(definitionStream(space, type))) {
    refuseUnreadable(event);
    const now = modelsOf(type, event.data as ContentTypeDefined['data']);
    const renaming = { position: event.position, before: last, now };
    if (renamesAny(renaming)) renamings.push(renaming);
    last = now;
  }
  const follow = (path: string, steps: readonly Renaming[]): readonly string[] =>
    steps.reduce<readonly string[]>(
      (paths, step) => paths.flatMap((each) => followed(step, type, each)),
      [path],
    );
  return (path, position) => {
    const later = renamings.filter((each) => each.position > position);
    const paths = follow(path, later);
    // A publication has the names of the edits that it publishes, which may be earlier ones.
    return paths.some((each) => isKnown(last, type, each)) ? paths : follow(path, renamings);
  };
}

/** Returns the names of now of what an event at a position changed. */
export function namesOfNow(pathsOfNow: PathsOfNow, changed: ChangedNames, position: bigint): ChangedNames {
  return changed === 'all' ? changed : new Set([...changed].flatMap((path) => pathsOfNow(path, position)));
}

function modelsOf(type: Uid, { schema, components }: ContentTypeDefined['data']): Models {
  const all: readonly (readonly [Uid, unknown])[] = [[type, schema], ...Object.entries(components)];
  return new Map(
    all.map(([uid, model]) => {
      const attributes = isRecord(model) ? model['attributes'] : undefined;
      return [uid, new Map(Object.entries(isRecord(attributes) ? attributes : {}))];
    }),
  );
}

function renamesAny({ before, now }: Renaming): boolean {
  return [...before].some(([uid, attributes]) =>
    [...attributes.keys()].some((name) => namesAfter({ before, now }, uid, name).join() !== name),
  );
}

/** Returns the names under which a definition has what an attribute had before, in one model. One that it lacks keeps its name. */
function namesAfter(
  { before, now }: Pick<Renaming, 'before' | 'now'>,
  uid: Uid,
  name: string,
): readonly string[] {
  const [earlier, later] = [before.get(uid), now.get(uid)];
  const renamed = [...(later ?? [])].flatMap(([each, attribute]) =>
    earlierName(attribute) === name && earlier?.has(each) === false ? [each] : [],
  );
  if (later?.has(name) === true) return [name, ...renamed];
  // The earlier name is back: the renaming is undone.
  const undone = earlierName(earlier?.get(name));
  if (renamed.length === 0 && later?.has(undone) === true) return [undone];
  return renamed.length === 0 ? [name] : renamed;
}

function earlierName(attribute: unknown): string {
  const options = isRecord(attribute) ? attribute['pluginOptions'] : undefined;
  const varve = isRecord(options) ? options['varve'] : undefined;
  const name = isRecord(varve) ? varve['renamedFrom'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** Returns the paths after a definition. See `ComponentParts` for the form of a path. */
function followed(renaming: Renaming, uid: Uid, path: string): readonly string[] {
  const [name = '', component, ...rest] = path.split('/');
  const names = namesAfter(renaming, uid, name);
  if (component === undefined) return names;
  const inner = followed(renaming, component, rest.join('/'));
  return names.flatMap((each) => inner.map((below) => `${each}/${component}/${below}`));
}

function isKnown(models: Models, uid: Uid, path: string): boolean {
  const [name = '', component, ...rest] = path.split('/');
  if (models.get(uid)?.has(name) !== true) return false;
  return component === undefined || isKnown(models, component, rest.join('/'));
}
