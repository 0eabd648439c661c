import * as z from 'zod';
import { type FormProblem, formProblems } from '../../shared/form-problems.ts';
import { localeProblem } from '../../shared/locale-form.ts';
import type { ReleaseAction } from '../../shared/releases/release-events.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { parseSchedule, type Schedule } from './parse-schedule.ts';
import { refusedRelease } from './release-error.ts';

/** Actions of one release. */
export const MOST_ACTIONS = 1_000;

const TIMEZONE = z.string({ error: 'must be the name of a time zone' }).max(100).nullable();

/** Body of a release. */
export const RELEASE_FORM = z.strictObject({
  name: z
    .string({ error: 'is missing' })
    .trim()
    .min(1, 'is empty')
    .max(200, 'must have at most 200 characters')
    .regex(/^\P{Cc}*$/u, 'has control characters'),
  scheduledAt: z
    .string({ error: 'must be a time' })
    .max(100)
    .nullable()
    .default(null)
    .describe('An instant with an offset, or a local time of `timezone`; null: a caller carries it out.'),
  timezone: TIMEZONE.default(null).describe('Such as Europe/Berlin.'),
});

const ACTION_TYPE = z.enum(['publish', 'unpublish'], { error: 'must be publish or unpublish' });

/** Body of an action of a release. */
export const ACTION_FORM = z.strictObject({
  type: ACTION_TYPE,
  contentType: z.string({ error: 'is missing' }).describe('Such as api::article.article.'),
  entryDocumentId: z
    .string()
    .min(1)
    .max(255)
    .nullish()
    .describe('documentId of the entry; absent: the entry of a single type.'),
  locale: z.string().nullish().describe('Absent: the default locale. *: all locales.'),
});

export const ACTIONS_FORM = z
  .array(ACTION_FORM)
  .min(1, 'is empty')
  .max(MOST_ACTIONS, `must have at most ${MOST_ACTIONS} actions`);
export const ACTION_CHANGE_FORM = z.strictObject({ type: ACTION_TYPE });

/** Member `data` of a body that schedules an action on an entry. */
const SCHEDULE_FORM = z.strictObject({
  at: z
    .string({ error: 'must be a time, or null' })
    .max(100)
    .nullable()
    .describe('An instant with an offset, or a local time of `timezone`; null: no longer.'),
  timezone: TIMEZONE.default(null).describe('Such as Europe/Berlin.'),
});

export type ActionRequest = z.output<typeof ACTION_FORM>;

/** Returns the value of a form. Throws RequestError (400) with all of its problems. */
export function parseReleaseForm<Form extends z.ZodType>(form: Form, data: unknown): z.output<Form> {
  const parsed = form.safeParse(data ?? {});
  if (parsed.success) return parsed.data;
  throw refusedRelease(formProblems(parsed.error));
}

export type ReleaseRequest = { readonly name: string } & (Schedule | NotScheduled);
type NotScheduled = { readonly scheduledAt: null; readonly timezone: string | null };

/** Returns a release as a body describes it. Throws RequestError (400). */
export function parseRelease(data: unknown, now: number): ReleaseRequest {
  const { name, scheduledAt, timezone } = parseReleaseForm(RELEASE_FORM, data);
  if (scheduledAt === null) return { name, scheduledAt, timezone };
  return { name, ...scheduleOf(scheduledAt, timezone, { at: 'scheduledAt', now }) };
}

/** Returns a time to come; null: the action is no longer scheduled. Throws RequestError (400). */
export function parseAt(data: unknown, now: number): Schedule | null {
  const { at, timezone } = parseReleaseForm(SCHEDULE_FORM, data);
  return at === null ? null : scheduleOf(at, timezone, { at: 'at', now });
}

function scheduleOf(...given: Parameters<typeof parseSchedule>): Schedule {
  const schedule = parseSchedule(...given);
  if ('message' in schedule) throw refusedRelease([schedule]);
  return schedule;
}

type Known = {
  readonly registry: SchemaRegistry;
  readonly defaultLocale: string;
  /** Returns the documentId of the entry of a single type; undefined if there is none. */
  readonly singleOf: (contentType: string) => string | undefined;
};

/** Returns an action without its id. Problems have the path of the action before their own. */
export function resolveAction(
  request: ActionRequest,
  { registry, defaultLocale, singleOf }: Known,
  path: string,
): Omit<ReleaseAction, 'id'> | FormProblem {
  const { type, contentType } = request;
  const problem = (name: string, message: string): FormProblem => ({
    path: [path, name].filter(Boolean).join('.'),
    message,
  });
  const definition = registry.contentTypes.get(contentType);
  if (definition === undefined || definition.builtIn)
    return problem('contentType', `is not a content type: "${contentType}"`);
  if (!definition.draftAndPublish) return problem('contentType', `has no draft & publish: "${contentType}"`);
  const entryDocumentId =
    request.entryDocumentId ?? (definition.kind === 'singleType' ? singleOf(contentType) : undefined);
  if (entryDocumentId === undefined) return problem('entryDocumentId', 'is missing');
  const given = request.locale ?? defaultLocale;
  const malformed = definition.localized && given !== '*' ? localeProblem(given) : undefined;
  if (malformed !== undefined) return problem('locale', malformed);
  return { type, contentType, entryDocumentId, locale: definition.localized ? given : null };
}
