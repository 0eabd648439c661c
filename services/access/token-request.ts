import * as z from 'zod';
import { TOKEN_TYPES } from '../../shared/access/access-events.ts';
import { parseAllow } from '../../shared/access/parse-allow.ts';
import { ACTIONS, type Right, showsDraft } from '../../shared/access/rights.ts';
import { type FormProblem, formProblems, type Parsed } from '../../shared/form-problems.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { parseExpiry } from './parse-expiry.ts';
import type { TokenRequest } from './token-commands.ts';

/** Rights in a body: a text with commas, or a list of texts. */
export const RIGHTS_FORM = z.union(
  [z.string(), z.array(z.string()).transform((rights) => rights.join(','))],
  { error: 'must be a list of rights' },
);

/** Rights of callers without a token, as a body describes them. */
export const PUBLIC_FORM = z.strictObject({ allow: RIGHTS_FORM });

export const TOKEN_FORM = z.strictObject({
  name: z
    .string({ error: 'is missing' })
    .trim()
    .min(1, 'is empty')
    .max(100, 'must have at most 100 characters'),
  type: z.enum(TOKEN_TYPES, {
    error: ({ input }) =>
      `must be one of ${TOKEN_TYPES.join(', ')}${input === undefined ? '' : `, got ${JSON.stringify(input)}`}`,
  }),
  allow: RIGHTS_FORM.optional(),
  drafts: z.boolean({ error: 'must be true or false' }).default(false),
  history: z.boolean({ error: 'must be true or false' }).default(false),
  expires: z.string({ error: 'must be a string' }).nullish(),
});

/** Parses a body that creates a token. Calls `registry` only for rights on content types; `now` is in milliseconds. */
export function parseTokenRequest(
  given: unknown,
  registry: () => SchemaRegistry,
  now: number,
): Parsed<TokenRequest> {
  const form = TOKEN_FORM.safeParse(given);
  if (!form.success) return { kind: 'problems', problems: formProblems(form.error) };
  const { name, type, drafts, history, expires } = form.data;
  const problems: FormProblem[] = [];
  const allow = allowOf(form.data, registry, problems);
  const expiresAt = typeof expires === 'string' ? parseExpiry(expires, now) : null;
  if (expiresAt === undefined) {
    problems.push({
      path: 'expires',
      message: `must be a duration such as 12h, 30d or 4w, or a future date, got "${expires}"`,
    });
  }
  if (problems.length > 0 || expiresAt === undefined) return { kind: 'problems', problems };
  return { kind: 'parsed', value: { name, type, allow, drafts, history, expiresAt } };
}

function allowOf(
  { type, allow, drafts, history }: z.output<typeof TOKEN_FORM>,
  registry: () => SchemaRegistry,
  problems: FormProblem[],
): readonly Right[] {
  const report = (message: string) => problems.push({ path: 'allow', message });
  if (type !== 'custom') {
    if (allow !== undefined) report(`is for custom tokens, not for ${type} ones`);
    return [];
  }
  if (allow === undefined || allow.trim() === '') {
    report(
      `is missing: a custom token needs a list of rights${drafts || history ? ', drafts and history alone are not a right' : ''}`,
    );
    return [];
  }
  const parsed = parseAllow(allow, registry());
  const shown = ACTIONS.find((action) => showsDraft(action) && allow.includes(`.${action}`));
  if (shown !== undefined && !drafts) report(`has ${shown}, whose answer is the draft: add drafts`);
  if (parsed.kind === 'allowed') return parsed.allowed;
  parsed.problems.forEach(report);
  return [];
}
