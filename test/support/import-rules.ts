import type { IRegularForbiddenRuleType } from 'dependency-cruiser';

/** Rules for the imports of files. rooms.ts checks the imports of rooms, by the table in docs/architecture.md. */

/** Files outside the pure rooms that must also do no I/O and read no clock. */
export const PURE_FILES = ['^services/command/decide'];

/** Built-in modules that do no I/O. */
export const COMPUTING_BUILT_INS = /^(node:)?(buffer|util|url|string_decoder)$/;

/**
 * Files that may call `readAll` and `subscribe` of the log, besides the adapters: the projector, whose graph knows the claims, and the two
 * that all others import.
 */
export const RAW_READS = [
  'projections/graph/projector.ts',
  'shared/event-store/raw-events.ts',
  'shared/fleet/effective-events.ts',
];

/**
 * Files that may call `readStream` of the log, besides the adapters: those about the lease, rights, webhooks, releases and processes, which no claim
 * ends, those about the log itself, and the one reader.
 */
export const STREAM_READS = [
  'projections/graph/store/check-history.ts',
  'services/access/access-control.ts',
  'services/cli/commands/document-events.ts',
  'services/content-types/append-definitions.ts',
  'services/erasure/erasure-ledger.ts',
  'services/erasure/plan-erasure.ts',
  'services/fleet/counts-by-lease.ts',
  'services/fleet/lease-view.ts',
  'services/fleet/log-identity.ts',
  'services/fleet/membership.ts',
  'services/past/log-times.ts',
  'services/past/make-past-graph.ts',
  'services/releases/apply-due.ts',
  'services/releases/watch-releases.ts',
  'services/stores/ownership.ts',
  'services/synonyms/open-synonyms.ts',
  'services/webhooks/webhook-commands.ts',
  'shared/fleet/effective-events.ts',
];

/** Files for which every event of the log counts, because they are about the log and not about content. */
const RAW_EVENTS = [
  'projections/graph/store/check-history',
  'services/cli/commands/events',
  'services/elasticsearch/name-of-log',
  'services/erasure/verify-erasures',
  'services/fleet/require-lease',
  'services/operating/projection-lag',
  'services/operator/(parked|status)',
  'services/past/log-times',
  'services/read-side/index-snapshot',
  'services/state/recent-events',
  'services/transfer/(export-log|import-export)',
  'shared/event-store/watch-stream',
].map((file) => `^${file}\\.ts$`);

const CLAIMS = [
  '^shared/fleet/',
  '^projections/graph/store/claims\\.ts$',
  '^services/transfer/history\\.ts$',
];

export const IMPORT_RULES: IRegularForbiddenRuleType[] = [
  error('no-cycles', 'modules that import each other, types included', {}, { circular: true }),
  error('no-unresolved', 'an import without a target', {}, { couldNotResolve: true }),
  error(
    'no-test-imports',
    'only tests import tests',
    { pathNot: ['^test/', '^vitest\\.config\\.ts$'] },
    { path: '^test/' },
  ),
  error(
    'no-dev-dependencies',
    'what runs imports what is installed with it',
    { path: '^(shared|projections|services)/' },
    { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  ),
  error(
    'browser-types',
    'a browser loads no module of the server',
    { path: '^services/console/browser/' },
    {
      path: '^(shared|projections|services)/',
      pathNot: '^services/console/browser/',
      dependencyTypesNot: ['type-only'],
    },
  ),
  error(
    'one-parser',
    'one file reads query strings, so no two do it differently',
    { path: '^services/', pathNot: '^services/query/query-string\\.ts$' },
    { path: 'node_modules/(@types/)?qs/' },
  ),
  error(
    'raw-events',
    'content comes from events that count: import shared/fleet/effective-events.ts',
    { path: '^(shared|projections|services)/', pathNot: RAW_EVENTS },
    { path: '^shared/event-store/raw-events\\.ts$' },
  ),
  error(
    'one-reader',
    'one reader knows which events count',
    { path: '^(shared|projections|services)/', pathNot: CLAIMS },
    { path: '^shared/fleet/claims\\.ts$' },
  ),
];

function error(
  name: string,
  comment: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IRegularForbiddenRuleType {
  return { name, comment, severity: 'error', from, to };
}
