import { refusedData, refusedForm } from '../../shared/refused-form.ts';
import type { Resource, ResourceRequest } from '../../shared/resource.ts';
import { EVERY_TYPE, SYNONYMS } from '../../shared/schema/add-synonyms.ts';
import type { SynonymGroups } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { SYNONYM_GROUPS } from '../../shared/schema/search-options.ts';
import type { CompareRules } from './compare-rules.ts';
import type { KnownSynonyms } from './open-synonyms.ts';
import type { PreviewRules } from './preview-rules.ts';
import type { SynonymCommands } from './synonym-commands.ts';

/** Synonyms for requests. */
export type ServedSynonyms = {
  readonly commands: SynonymCommands;
  /** Resolves when searches of this process use the synonyms up to a position of the log. */
  readonly applied: KnownSynonyms['applied'];
  readonly preview: PreviewRules;
  readonly compare: CompareRules;
};

type Parts = ServedSynonyms & { readonly registry: Pick<SchemaRegistry, 'contentTypes'> };

const PATH = '/_varve/synonyms';

/**
 * Synonyms that are set while servers run. An answer is sent when the change is in force in this process. Other processes apply it when they
 * read it from the log.
 */
export const SYNONYM_RESOURCES: readonly Resource<Parts>[] = [
  {
    name: 'listSynonyms',
    summary: 'List the synonyms that were set here, by content type and locale',
    method: 'GET',
    path: PATH,
    result: SYNONYMS,
    run: async ({ commands }) => ({ data: await commands.list() }),
  },
  {
    name: 'getSynonyms',
    summary: 'Read the synonyms that were set for a content type, by locale',
    method: 'GET',
    path: `${PATH}/:type`,
    result: SYNONYM_GROUPS,
    async run(parts, request) {
      const type = typeOf(parts, request);
      return { data: (await parts.commands.list())[type] ?? {} };
    },
  },
  {
    name: 'setSynonyms',
    summary: 'Replace the synonyms that were set for a content type; * is every type',
    method: 'PUT',
    path: `${PATH}/:type`,
    body: SYNONYM_GROUPS,
    result: SYNONYM_GROUPS,
    async run(parts, request) {
      const type = typeOf(parts, request);
      const groups = parseGroups(request.data);
      const position = await parts.commands.set(type, groups);
      await parts.applied(position);
      return { data: groups, position };
    },
  },
];

function typeOf({ registry }: Parts, { parameter }: ResourceRequest): string {
  return requireTypeOf('synonyms', parameter('type'), registry);
}

/** Returns the uid of a content type; synonyms may also be those of `*`. Throws RequestError (400) for another text. */
export function requireTypeOf(
  what: 'synonyms' | 'rules',
  type: string,
  { contentTypes }: Parts['registry'],
): string {
  const isForEvery = what === 'synonyms';
  if (contentTypes.has(type) || (isForEvery && type === EVERY_TYPE)) return type;
  const message = `must be the uid of a content type${isForEvery ? ' or *' : ''}, got "${type}"`;
  throw refusedForm([{ path: 'type', message }], `invalid-${what}`);
}

/** Returns groups of synonyms by locale. Throws RequestError (400) that names all problems. */
export function parseGroups(data: unknown): SynonymGroups {
  const parsed = SYNONYM_GROUPS.safeParse(data);
  if (parsed.success) return parsed.data;
  throw refusedData(parsed.error, 'invalid-synonyms');
}
