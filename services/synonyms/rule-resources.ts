import * as z from 'zod';
import { refusedData, refusedForm } from '../../shared/refused-form.ts';
import type { Resource, ResourceRequest } from '../../shared/resource.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { INSTALLED_RULES, SEARCH_RULES, type SearchRule } from '../../shared/schema/search-rules.ts';
import { checkRules } from '../query/search-rules.ts';
import { COMPARED_TESTS, TESTS } from './compare-rules.ts';
import { requireTypeOf, type ServedSynonyms } from './synonym-resources.ts';

type Parts = ServedSynonyms & { readonly registry: SchemaRegistry };

/** A search that is tried with rules. Without rules those in force count. */
const TRIAL = z.strictObject({
  rules: SEARCH_RULES.optional(),
  search: z.string().min(1).max(512),
  locale: z.string().min(2).max(35).optional(),
});

/** Rules that are compared with those in force, by searches. */
const COMPARISON = z.strictObject({ rules: SEARCH_RULES, tests: TESTS });

const PATH = '/_varve/rules';

/**
 * Rules for searches with certain words. An answer is sent when the change is in force in this process. Other processes apply it when they
 * read it from the log.
 */
export const RULE_RESOURCES: readonly Resource<Parts>[] = [
  {
    name: 'listRules',
    summary: 'List the rules for searches with certain words, by content type',
    method: 'GET',
    path: PATH,
    result: INSTALLED_RULES,
    run: async ({ commands }) => ({ data: await commands.listRules() }),
  },
  {
    name: 'getRules',
    summary: 'Read the rules for searches of a content type',
    method: 'GET',
    path: `${PATH}/:type`,
    result: SEARCH_RULES,
    async run(parts, request) {
      const type = typeOf(parts, request);
      return { data: (await parts.commands.listRules())[type] ?? [] };
    },
  },
  {
    name: 'setRules',
    summary: 'Replace the rules for searches of a content type',
    method: 'PUT',
    path: `${PATH}/:type`,
    body: SEARCH_RULES,
    result: SEARCH_RULES,
    async run(parts, request) {
      const type = typeOf(parts, request);
      const rules = parseRules(request.data, type, parts.registry);
      const position = await parts.commands.setRules(type, rules);
      await parts.applied(position);
      return { data: rules, position };
    },
  },
  {
    name: 'previewRules',
    summary: 'Search with rules that are not stored: the first ten entries, and why they come in this order',
    method: 'POST',
    path: `${PATH}/:type/preview`,
    body: TRIAL,
    result: z.array(z.looseObject({})),
    async run(parts, request) {
      const type = typeOf(parts, request);
      const parsed = TRIAL.safeParse(request.data);
      if (!parsed.success) throw refusedData(parsed.error, 'invalid-rules');
      const { search, locale, rules: given } = parsed.data;
      const rules = given
        ? parseRules(given, type, parts.registry)
        : (await parts.commands.listRules())[type];
      return parts.preview({ type, rules: rules ?? [], search, locale });
    },
  },
  {
    name: 'compareRules',
    summary: 'Run searches with expected entries, with the rules in force and with rules that are not stored',
    method: 'POST',
    path: `${PATH}/:type/compare`,
    body: COMPARISON,
    result: COMPARED_TESTS,
    async run(parts, request) {
      const type = typeOf(parts, request);
      const parsed = COMPARISON.safeParse(request.data);
      if (!parsed.success) throw refusedData(parsed.error, 'invalid-rules');
      const { rules, tests } = parsed.data;
      return parts.compare({ type, rules: parseRules(rules, type, parts.registry), tests });
    },
  },
];

function typeOf({ registry }: Parts, { parameter }: ResourceRequest): string {
  return requireTypeOf('rules', parameter('type'), registry);
}

/** Returns the rules of a content type. Throws RequestError (400) that names all problems. */
export function parseRules(data: unknown, type: string, registry: SchemaRegistry): readonly SearchRule[] {
  const parsed = SEARCH_RULES.safeParse(data);
  const problems = parsed.success ? checkRules(parsed.data, { uid: type }, { registry }) : [];
  if (!parsed.success) throw refusedData(parsed.error, 'invalid-rules');
  if (problems.length > 0) throw refusedForm(problems, 'invalid-rules');
  return parsed.data;
}
