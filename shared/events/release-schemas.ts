import * as z from 'zod';
import type { ReleaseEvent } from '../releases/release-events.ts';

const releaseHead = {
  id: z.int().min(1),
  name: z.string(),
  scheduledAt: z.iso.datetime().nullable().describe('null: a caller carries it out'),
  timezone: z.string().nullable().describe('As the caller gave it, for people'),
};
const releaseEntry = {
  contentType: z.string().describe('A content type, such as `api::tag.tag`'),
  entryDocumentId: z.string(),
  locale: z
    .string()
    .nullable()
    .describe('null on content types without i18n; `*`: every locale that the document then has'),
};
const releaseDefined = z.strictObject({
  ...releaseHead,
  single: z.boolean().describe('An action on an entry made it, with `at`'),
});
const releaseChanged = z.strictObject({
  id: z.int().min(1),
  put: z
    .array(z.strictObject({ id: z.int().min(1), type: z.enum(['publish', 'unpublish']), ...releaseEntry }))
    .describe('Actions that are added, or replace those with the same id'),
  removed: z.array(z.int().min(1)).describe('Ids of actions'),
});
const releaseRemoved = z.strictObject({ id: z.int().min(1) });
const releaseDone = z.strictObject({
  ...releaseHead,
  lateMs: z.int().nullable().describe('Milliseconds after scheduledAt; null: a caller carried it out'),
  published: z.int().min(0),
  unpublished: z.int().min(0),
});
const releaseFailed = z.strictObject({
  ...releaseHead,
  problems: z
    .array(z.strictObject({ ...releaseEntry, reason: z.string() }))
    .describe('Why nothing of the release was published'),
});

/** Schemas of the versions of events of releases, see EVENT_SCHEMAS. */
export const RELEASE_SCHEMAS = {
  'release-defined': [releaseDefined],
  'release-changed': [releaseChanged],
  'release-removed': [releaseRemoved],
  'release-done': [releaseDone],
  'release-failed': [releaseFailed],
} as const satisfies Readonly<Record<ReleaseEvent['type'], readonly z.ZodType[]>>;
