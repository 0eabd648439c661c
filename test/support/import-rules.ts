import type { IRegularForbiddenRuleType } from 'dependency-cruiser';

/** Who may import what: architecture.md, section 7. Paths are relative to the root of the checkout. */

/** The composition root and the tests choose adapters. */
const COMPOSITION = [
  '^services/(main|stores/open-event-store|stores/open-asset-store|read-side/read-side)\\.ts$',
  '^services/(cli|elasticsearch|process)/',
  '^test/',
];

/** Folders and files without I/O and without a clock. */
export const PURE = [
  '^shared/document/',
  '^shared/events/',
  '^shared/(json|canonical-json)\\.ts$',
  '^shared/schema/(?!load-content-types\\.ts)',
  '^shared/access/',
  '^shared/fleet/',
  '^services/query/',
  '^services/openapi/',
  '^services/command/decide',
];

/** Built-in modules that only compute. */
const COMPUTING_BUILT_INS = '^(node:)?(buffer|util|url|string_decoder)$';

/** Each driver and the one place that may import it; tests may too. */
const DRIVERS: readonly { readonly driver: string; readonly place: string }[] = [
  { driver: '^(node:)?sqlite$', place: '^shared/sqlite/' },
  { driver: 'node_modules/@kurrent/', place: '^shared/event-store/kurrentdb/' },
  { driver: 'node_modules/@aws-sdk/', place: '^shared/asset-store/s3/' },
  { driver: 'node_modules/@elastic/', place: '^shared/read-index/elasticsearch/' },
  { driver: 'node_modules/(@types/)?qs/', place: '^services/query/query-string\\.ts$' },
  { driver: 'node_modules/(@fastify/|fastify)', place: '^services/http/' },
  { driver: 'node_modules/(commander|(@types/)?cli-progress)/', place: '^services/cli/' },
  { driver: 'node_modules/@node-rs/argon2', place: '^services/command/' },
  { driver: 'node_modules/(file-type|image-size)/', place: '^services/assets/' },
  { driver: 'node_modules/sharp/', place: '^services/assets/pictures/resize-' },
  { driver: 'node_modules/(@types/)?tar-stream/', place: '^services/strapi/' },
  { driver: 'node_modules/(prom-client|@opentelemetry)/', place: '^services/operating/' },
];

/** Adapters of the ports; an adapter's own files import each other. */
const ADAPTERS = [
  '^shared/event-store/sqlite/',
  '^shared/event-store/kurrentdb/',
  '^shared/read-index/embedded/',
  '^shared/asset-store/folder/',
  '^shared/asset-store/s3/',
  '^shared/read-index/elasticsearch/',
];

const LAYERS: readonly { readonly from: string; readonly notTo: string }[] = [
  { from: '^shared/', notTo: '^(services|projections|infra|examples)/' },
  { from: '^projections/', notTo: '^(services|infra|examples)/' },
  { from: '^services/query/', notTo: '^(services/(?!query/)|projections/)' },
  { from: '^services/command/', notTo: '^(services/(?!command/)|projections/)' },
  { from: '^services/operating/', notTo: '^(services/(?!operating/)|projections/)' },
  { from: '^services/assets/', notTo: '^(services/(?!(assets|command)/)|projections/)' },
];

export const IMPORT_RULES: IRegularForbiddenRuleType[] = [
  error('no-cycles', 'modules that import each other, types included', {}, { circular: true }),
  error('no-unresolved', 'an import that leads nowhere', {}, { couldNotResolve: true }),
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
    'purity',
    'no I/O where everything is a function of its arguments',
    { path: PURE },
    { dependencyTypes: ['core'], pathNot: COMPUTING_BUILT_INS },
  ),
  ...LAYERS.map(({ from, notTo }) =>
    error(`layers ${from}`, 'dependencies go one way', { path: from }, { path: notTo }),
  ),
  ...DRIVERS.map(({ driver, place }) =>
    error(`driver ${driver}`, `only ${place} talks to it`, { pathNot: [place, '^test/'] }, { path: driver }),
  ),
  ...ADAPTERS.map((adapter) =>
    error(
      `adapter ${adapter}`,
      'an adapter is chosen by the composition root',
      { pathNot: [adapter, ...COMPOSITION] },
      { path: adapter },
    ),
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
