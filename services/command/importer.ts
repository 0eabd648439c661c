import { hash } from 'node:crypto';
import type { ContentGraphReader, Entry } from '../../shared/document/entry.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import type { NewEvent } from '../../shared/event-store/event-store.ts';
import { RequestError } from '../../shared/request-error.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { type ContentType, type Uid, USER_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type DocumentState, decide, mergedValues } from './decide.ts';
import { derivedDocumentId } from './document-id.ts';
import { hashPasswords } from './hash-passwords.ts';
import { type ImportLine, type ImportVariant, parseImportLine } from './import-line.ts';
import { resolveReferences } from './import-references.ts';
import { newEvents } from './new-events.ts';
import type { Data } from './parse-data.ts';
import { prepareWrite, refuse } from './prepare-write.ts';
import { validationError } from './problem.ts';
import { refuseUnknownKeys } from './refuse-unknown-keys.ts';
import type { LinkFinder } from './relation-scope.ts';
import { claimKey, type UniqueClaim, uniqueProblems } from './unique-values.ts';
import { parseWriteLocale } from './write-target.ts';

export type ImportEnvironment = {
  readonly registry: SchemaRegistry;
  /** The content before the import. */
  readonly graph: ContentGraphReader;
  readonly defaultLocale: string;
  readonly space: string;
  /** Epoch of the lease under which documents are written. */
  readonly epoch: number;
  /** ISO 8601: time for lines without a time of their own. */
  readonly at: string;
  /** Returns the document of a key in a line of this import or an earlier one; undefined if there is none. */
  readonly known: (type: Uid, key: string) => ReferencedDocument | undefined;
};

/** `documentId`: from its line; absent if it follows from the key. */
export type ReferencedDocument = { readonly documentId?: string };

/** `refused`: nothing of the line may be written, for these reasons. */
export type ImportOutcome =
  | {
      readonly kind: 'document';
      readonly type: Uid;
      readonly documentId: string;
      /** Unique values that the document claims. */
      readonly claims: readonly UniqueClaim[];
      readonly stream: string;
      /** Events to append together, to a stream that does not exist (`none`). */
      readonly events: readonly NewEvent[];
    }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] };

export type Importer = {
  /**
   * Validates one line (parsed JSON) like a write of the API, and returns the events of its document. Ids of documents and events follow
   * from namespace, type, key and content. So a repeated import finds its own events in the log and writes nothing. A line that has changed
   * since then causes a conflict. References may point forward.
   */
  importLine(json: unknown): Promise<ImportOutcome>;
};

const AUTHOR = { actor: { kind: 'import' }, via: 'import' } as const;

/** Processes the lines of one import, in any number of files. Remembers unique values over all of them. */
export function createImporter(environment: ImportEnvironment): Importer {
  const types = typesByName(environment.registry);
  const claimed = new Map<string, string>();
  const keyFor = createKeys();
  const referenced = new Map<string, string>();
  const ids = new Map<string, string>();
  return {
    async importLine(json) {
      const parsed = parseImportLine(json);
      if ('reasons' in parsed) return { kind: 'refused', reasons: parsed.reasons };
      const type = types.get(parsed.line.type);
      if (type === undefined)
        return { kind: 'refused', reasons: [`unknown content type ${parsed.line.type}`] };
      try {
        const run = { ...environment, types, claimed, ids, referenced };
        const digest = hash('sha256', JSON.stringify(json));
        const key = parsed.line.key ?? parsed.line.documentId ?? keyFor(digest);
        return await importDocument(run, type, { ...parsed.line, key }, digest);
      } catch (error) {
        if (error instanceof RequestError) return { kind: 'refused', reasons: reasonsOf(error) };
        throw error;
      }
    },
  };
}

/**
 * Returns a function that names the document of a line without a key after its content. A repeated import gives the same names, and equal
 * lines of one import different ones.
 */
function createKeys(): (digest: string) => string {
  const lines = new Map<string, number>();
  return (digest) => {
    const earlier = lines.get(digest) ?? 0;
    lines.set(digest, earlier + 1);
    return `line ${digest} ${earlier}`;
  };
}

type KeyedLine = ImportLine & { readonly key: string };

type ImportRun = ImportEnvironment & {
  readonly types: ReadonlyMap<string, ContentType>;
  /** documentId by claim, for all lines so far. */
  readonly claimed: Map<string, string>;
  /** documentId by type and row id, for all lines so far that have one. */
  readonly ids: Map<string, string>;
  /** documentId by `uid/key` of recently referenced documents: most of them are referenced often. */
  readonly referenced: Map<string, string>;
};

const REMEMBERED_REFERENCES = 100_000;

function referencedDocument({ space, referenced }: ImportRun, type: Uid, key: string): string {
  const name = `${type}/${key}`;
  const known = referenced.get(name);
  if (known !== undefined) return known;
  if (referenced.size >= REMEMBERED_REFERENCES) referenced.clear();
  const documentId = derivedDocumentId(space, type, key);
  referenced.set(name, documentId);
  return documentId;
}

function typesByName({ contentTypes }: SchemaRegistry): Map<string, ContentType> {
  return new Map(
    [...contentTypes.values()].flatMap((type) => [
      [type.singularName, type],
      [type.uid, type],
    ]),
  );
}

async function importDocument(
  run: ImportRun,
  type: ContentType,
  line: KeyedLine,
  digest: string,
): Promise<ImportOutcome> {
  const documentId = line.documentId ?? derivedDocumentId(run.space, type.uid, line.key);
  const key = `import/${run.space}/${type.uid}/${line.key}/${digest}`;
  const claims: UniqueClaim[] = [];
  const events: NewEvent[] = [];
  let state: DocumentState = { type, documentId, entries: [] };
  for (const { locale: given, variant } of line.variants) {
    const locale = parseWriteLocale(type, given, run.defaultLocale, 'one-only');
    for (const step of stepsOf(type, variant)) {
      const imported = importedData(run, type, step.data);
      const { publish } = step;
      const decision = await decideStep(run, state, { ...imported, locale, publish, id: variant.id });
      claims.push(...decision.claims);
      state = stateAfter(state, locale, decision.events);
      for (const event of decision.events) {
        const metadata = { at: timeOf(event, variant, run.at), epoch: run.epoch, ...AUTHOR };
        events.push(...newEvents([event], `${key}/${events.length}`, metadata));
      }
    }
  }
  if (events.length === 0) return { kind: 'refused', reasons: ['locales: there is none'] };
  claimIds(run, type, documentId, line);
  for (const claim of claims) run.claimed.set(claimKey(claim), documentId);
  const stream = documentStream(run.space, type.uid, documentId);
  return { kind: 'document', type: type.uid, documentId, claims, stream, events };
}

/** Throws if an id of the line belongs to another document, whose row would keep it. */
function claimIds(run: ImportRun, { uid }: ContentType, documentId: string, { variants }: KeyedLine): void {
  const wanted = variants.flatMap(({ variant }) => variant.id ?? []);
  for (const [at, id] of wanted.entries()) {
    const owner = run.ids.get(`${uid}/${id}`) ?? run.graph.documentOfId(uid, id)?.documentId ?? documentId;
    if (owner !== documentId || wanted.indexOf(id) !== at)
      throw validationError(
        `id: ${id} already belongs to ${owner === documentId ? 'another locale' : owner}`,
      );
  }
  for (const id of wanted) run.ids.set(`${uid}/${id}`, documentId);
}

type Step = { readonly data: Data; readonly publish: boolean };

function stepsOf(type: ContentType, { state: given, data, draft }: ImportVariant): Step[] {
  const edited = draft === undefined ? 'published' : 'modified';
  const state = given ?? (type.draftAndPublish ? edited : 'live');
  const isUnversioned = state === 'live';
  if (isUnversioned === type.draftAndPublish) {
    throw validationError(
      `state: ${state} does not fit a type ${isUnversioned ? 'with' : 'without'} draft & publish`,
    );
  }
  if ((draft !== undefined) !== (state === 'modified')) {
    throw validationError(`draft: belongs to the state modified, the state is ${state}`);
  }
  const first = { data, publish: state === 'published' || state === 'modified' };
  return draft === undefined ? [first] : [first, { data: draft, publish: false }];
}

type StepWrite = ImportedData & {
  readonly locale: string | null;
  readonly publish: boolean;
  /** Row id that the line asks for. */
  readonly id: number | undefined;
};

async function decideStep(
  run: ImportRun,
  state: DocumentState,
  { data, finder, locale, publish, id }: StepWrite,
): Promise<{ readonly events: readonly DocumentEvent[]; readonly claims: readonly UniqueClaim[] }> {
  refuseUnknownKeys(run.registry, state.type, data);
  const hashes = await hashPasswords(run.registry, state.type, data);
  const environment = { ...run, registry: () => run.registry, finder };
  const prepared = prepareWrite(environment, state, { data, locale, publish, hashes });
  const taken = uniqueProblems(run.graph, prepared.claims, state.documentId, (claim) => {
    const owner = run.claimed.get(claimKey(claim));
    return owner !== undefined && owner !== state.documentId;
  });
  refuse(state.type, [...prepared.problems, ...taken], prepared.late);
  const intent =
    id === undefined || prepared.intent.kind !== 'write' ? prepared.intent : { ...prepared.intent, id };
  return { events: decide(intent, state), claims: prepared.claims };
}

/** Returns the rows for the next step, which ignores the ids and times of rows that do not exist yet. */
function stateAfter(
  state: DocumentState,
  locale: string | null,
  events: readonly DocumentEvent[],
): DocumentState {
  const [first] = events;
  const sent = first !== undefined && 'values' in first.data ? first.data.values : {};
  const values = mergedValues(state, locale, sent);
  const version = state.type.draftAndPublish ? 'draft' : 'live';
  const { documentId, type } = state;
  const at = '1970-01-01T00:00:00.000Z';
  const times = { createdAt: at, updatedAt: at, publishedAt: null };
  const row: Entry = { key: 0, id: 0, type: type.uid, documentId, locale, version, values, ...times };
  const others = state.entries.filter((entry) => entry.locale !== locale);
  return { ...state, entries: [...others, row] };
}

/** `tag:key` or `api::tag.tag:key`. */
const REFERENCE = /^([^:]+(?:::[^:]+)?):(.*)$/s;

type ImportedData = { readonly data: Data; readonly finder: LinkFinder };

function importedData(run: ImportRun, type: ContentType, sent: Data): ImportedData {
  const references = new Map<string, string>();
  const targets = new Set<string>();
  const data = resolveReferences(run.registry, type, sent, (reference) => {
    const [, name = '', key = ''] = REFERENCE.exec(reference) ?? [];
    const target = run.types.get(name)?.uid;
    const known = target === undefined ? undefined : run.known(target, key);
    if (target === undefined || known === undefined) throw validationError(`unknown reference ${reference}`);
    const documentId = known.documentId ?? referencedDocument(run, target, key);
    references.set(documentId, reference);
    targets.add(`${target}/${documentId}`);
    return documentId;
  });
  const exists = (target: Uid, documentId: string, locale: string | null) => {
    if (targets.has(`${target}/${documentId}`)) return true;
    const reference = references.get(documentId);
    if (reference !== undefined) throw validationError(`reference ${reference} is not of the type ${target}`);
    return run.graph.exists(target, documentId, ...(locale === null ? [] : [locale]));
  };
  const byId: LinkFinder['byId'] = (target, id) => run.graph.documentOfId(target, id);
  return {
    data: withUserDefaults(type, data),
    finder: { exists, byId, rowId: () => undefined, isPublished: () => true },
  };
}

/** Defaults that `POST /api/users` adds. */
function withUserDefaults(type: ContentType, data: Data): Data {
  if (type.uid !== USER_TYPE) return data;
  const { email } = data;
  const lower = typeof email === 'string' ? { email: email.toLowerCase() } : {};
  return { provider: 'local', role: USER_ROLES.authenticated, ...data, ...lower };
}

function timeOf({ type }: DocumentEvent, variant: ImportVariant, at: string): string {
  if (type === 'entry-created') return variant.createdAt ?? at;
  return (type === 'entry-published' ? variant.publishedAt : variant.updatedAt) ?? at;
}

function reasonsOf({ message, details }: RequestError): readonly string[] {
  const errors = details['errors'];
  if (!Array.isArray(errors)) return [message];
  return errors.map((error: { readonly path: readonly string[]; readonly message: string }) =>
    error.message.startsWith(error.path[0] ?? '')
      ? error.message
      : `${error.path.join('.')}: ${error.message}`,
  );
}
