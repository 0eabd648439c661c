import type { Entry } from '../../shared/document/entry.ts';
import type { LinkTarget } from '../../shared/document/events.ts';
import { isRecord } from '../../shared/json-record.ts';
import { RequestError } from '../../shared/request-error.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import type { Attribute, ContentType, Model, Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type Problems, refuseIfAny, refuseOtherNames } from '../query/problems.ts';
import { parseQueryString } from '../query/query-string.ts';
import { foldDocuments } from './document-at.ts';
import { readVisibleVersions, type VisibleVersion, versionAt } from './list-versions.ts';
import { lostPaths, type TypedRow } from './lost-paths.ts';
import { isOwner, ownLinksOf, type Snapshot, snapshotOf } from './present-row.ts';
import type { AskedHistory, HistoryOptions, HistoryViewer } from './question.ts';
import { rowOf } from './read-version.ts';
import { readRenamedPaths } from './renamed-paths.ts';
import { localeIn } from './version-parameters.ts';

/** A version in the form of a write, and the parts of it that the write does not have. */
export type Restorable = {
  readonly documentId: string;
  readonly locale: string | null;
  /** True if the document has no rows now. */
  readonly isDeleted: boolean;
  readonly data: Values;
  readonly restored: RestoreReport;
};

export type RestoreReport = {
  /** Attributes, and those of components, with values that the content types of now cannot have. */
  readonly ignored: readonly string[];
  /** Links to documents that do not exist any more. */
  readonly missing: readonly MissingLink[];
};

type MissingLink = { readonly path: string; readonly documentId: string; readonly locale?: string };
type Values = Readonly<Record<string, unknown>>;

/** Reads a version for a write. Throws RequestError: 404 for a version that the caller may not see, 400 if it has no entry. */
export async function readRestorable(options: HistoryOptions, asked: AskedHistory): Promise<Restorable> {
  const { type, documentId, viewer } = asked;
  const locale = localeOf(asked);
  const version = versionAt(await readVisibleVersions(options, asked), asked.version);
  const choice = { locale: locale ?? version.locale, status: 'draft' } as const;
  const { earlier, now } = await readBoth(options, asked, version, choice.locale);
  const row = rowOf(type, now, choice);
  if (row === undefined) throw noEntry(version);
  const whole = contentTypeOf(options.registry, type.uid);
  const missing: MissingLink[] = [];
  const exists = (uid: Uid, { documentId: id, locale: one }: LinkTarget) =>
    options.graph.reader.exists(uid, id, ...(one === null ? [] : [one]));
  const writing = { registry: options.registry, viewer, exists, missing };
  const values = { ...row.values, ...ownLinksOf(whole, now, row) };
  const data = writtenModel(writing, { model: whole, shown: type }, values, '');
  const pathsOfNow = await readRenamedPaths(options, type.uid);
  const lost = (then: TypedRow) =>
    lostPaths({
      mayFind: viewer.mayFind,
      then,
      now: { registry: viewer.registry, attributes: type.attributes, values },
      pathsOfNow: (path) => pathsOfNow(path, version.position),
    });
  const ignored = earlier === undefined ? [] : lost(earlier);
  const isDeleted = !options.graph.reader.exists(type.uid, documentId);
  return { documentId, locale: row.locale, isDeleted, data, restored: { ignored, missing } };
}

function localeOf({ query: text, type }: AskedHistory): string | undefined {
  const query = parseQueryString(text);
  const problems: Problems = [];
  refuseOtherNames(query, ['locale'], problems);
  const locale = localeIn(query, type, problems);
  refuseIfAny(problems);
  return locale;
}

function noEntry({ position, locale }: VisibleVersion): RequestError {
  return new RequestError(
    'not-applicable',
    'The version has no entry to restore: it deleted it, or the content type cannot have it now',
    {
      version: String(position),
      locale,
      accepted: 'a version before the deletion',
    },
  );
}

/** Reads a document at a version, under the content types of then and of now. `earlier`: absent if there was no such entry. */
async function readBoth(
  options: HistoryOptions,
  { type, documentId }: AskedHistory,
  { revision }: VisibleVersion,
  locale: string | null,
) {
  const name = { type: type.uid, documentId };
  let earlier: TypedRow | undefined;
  const graph = await foldDocuments(options, [{ ...name, revision }], (past) => {
    const snapshot = snapshotOf(past, name);
    const registry = past.registry();
    const known = registry.contentTypes.get(type.uid);
    const row = earlierRow(type, snapshot, locale ?? options.defaultLocale);
    if (known === undefined || row === undefined) return;
    const values = { ...row.values, ...ownLinksOf(known, snapshot, row) };
    earlier = { registry, attributes: known.attributes, values };
  });
  try {
    return { earlier: earlier as TypedRow | undefined, now: snapshotOf(graph, name) };
  } finally {
    graph.close();
  }
}

/** Returns the row that became that of now. A type without drafts any more has what was published. */
function earlierRow(
  { draftAndPublish }: Pick<ContentType, 'draftAndPublish'>,
  { entries }: Snapshot,
  locale: string,
): Entry | undefined {
  const own = entries.filter((row) => row.locale === locale || row.locale === null);
  return own.find(({ version }) => version !== (draftAndPublish ? 'published' : 'draft')) ?? own[0];
}

type Writing = {
  readonly registry: SchemaRegistry;
  readonly viewer: HistoryViewer;
  readonly exists: (type: Uid, target: LinkTarget) => boolean;
  readonly missing: MissingLink[];
};

/** `shown`: the model as the caller sees it. An attribute that it lacks stays as it is. */
type WrittenModel = { readonly model: Model; readonly shown: Model };

function writtenModel(
  writing: Writing,
  { model, shown }: WrittenModel,
  values: Values,
  path: string,
): Values {
  const written = [...model.attributes.values()].filter(
    (attribute) =>
      shown.attributes.has(attribute.name) &&
      (attribute.kind === 'relation' ? isOwner(attribute) : !isPassword(attribute)),
  );
  return Object.fromEntries(
    written.map((attribute) => {
      const { name } = attribute;
      return [
        name,
        writtenValue(writing, attribute, values[name] ?? null, path === '' ? name : `${path}.${name}`),
      ];
    }),
  );
}

/** Passwords stay as they are: an earlier one must not become valid again. */
function isPassword(attribute: Attribute): boolean {
  return attribute.kind === 'scalar' && attribute.type === 'password';
}

function writtenValue(writing: Writing, attribute: Attribute, value: unknown, path: string): unknown {
  if (attribute.kind === 'scalar') return value;
  if (attribute.kind === 'relation') {
    const targets = (value ?? []) as readonly LinkTarget[];
    const [found, lost] = [true, false].map((has) =>
      targets.filter((target) => writing.exists(attribute.target, target) === has),
    ) as [LinkTarget[], LinkTarget[]];
    if (!attribute.private)
      writing.missing.push(
        ...lost
          .filter((target) => writing.viewer.showsTarget(attribute.target, target))
          .map(({ documentId, locale }) => ({ path, documentId, ...(locale === null ? {} : { locale }) })),
      );
    return { set: found.map(reference) };
  }
  const written = (part: unknown, at: string): Values | null => {
    if (!isRecord(part)) return null;
    const uid = uidOfComponent(attribute, part);
    const component = writing.registry.components.get(uid);
    if (component === undefined) return null;
    const shown = writing.viewer.registry.components.get(uid) ?? component;
    const inner = attribute.private ? { ...writing, missing: [] } : writing;
    const data = writtenModel(inner, { model: component, shown }, part, at);
    return attribute.kind === 'dynamiczone' ? { __component: uid, ...data } : data;
  };
  if (attribute.kind === 'component' && !attribute.repeatable) return written(value, path);
  return [value ?? []].flat().flatMap((part, slot) => written(part, `${path}.${slot}`) ?? []);
}

function reference({ documentId, locale }: LinkTarget): object {
  return locale === null ? { documentId } : { documentId, locale };
}
