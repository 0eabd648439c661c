import type { KnipConfig } from 'knip';

const config: KnipConfig = {
  entry: [
    'services/cli/bin.ts',
    // Served to browsers.
    'services/console/browser/main.ts',
    // Run as a thread, and as programs.
    'services/assets/pictures/resize-program.ts',
    'services/project/evaluate-module.ts',
    'shared/event-store/sqlite/commit-thread.ts',
    'shared/sqlite/scrub-thread.ts',
    'shared/sqlite/write-behind-thread.ts',
    'test/support/{append-until-killed,count-cpu,hold-data-directory,hold-graph,report-crash,save-until-killed,upgrade-log,webhook-receiver-process,worker-that-stays,write-until-killed,write-words}.ts',
    'test/support/kurrentdb/replace-channels.ts',
    'test/**/*.test.ts',
    'test/bench/*.ts',
    'test/conformance/*.ts',
    'test/front-ends/*.ts',
    'test/fuzz/fuzz.ts',
    'test/pictures/*.ts',
    'test/projects/*.ts',
    'test/login/record-strapi.ts',
  ],
  project: ['{shared,projections,services,test}/**/*.ts', '*.ts'],
  // shared/search/languages.ts loads stemmers and stop words when they are first used.
  // Dependency-cruiser reads TypeScript with @swc/core; varve-checkout brings Node and the clients.
  // test/support/standard-webhooks.ts loads its package at run time.
  // test/login/refine.test.ts says what to do where its package is not installed.
  ignoreDependencies: [
    '@swc/core',
    'varve-checkout',
    '@orama/stemmers',
    'stopword',
    '@refinedev/strapi-v4',
    'standardwebhooks',
  ],
  // Not from npm: scheduling classes, certificates of the KurrentDB tests, pipes, limits, small file systems and a cache.
  ignoreBinaries: ['mount', 'umount', 'flock', 'openssl', 'mkfifo', 'prlimit', 'varnishd', 'wrk', 'promtool'],
  ignoreExportsUsedInFile: { interface: true, type: true },
};

export default config;
