import { describe, expect, it, onTestFinished } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { runVarve } from '../support/run-varve.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A request to Elasticsearch may take 30 seconds. An operator must not wait for it. */
const BEFORE_THE_LIMIT_MS = 20_000;
const SILENT = 'takes requests and answers none';

describe(
  'an Elasticsearch that takes requests and answers none',
  await needsElasticsearch(takesMinutes(SILENT)),
  () => {
    it('is named by the state and by varve status, which do not wait for it', {
      timeout: 300_000,
    }, async () => {
      const proxy = await startElasticsearchProxy(await elasticsearchUrl());
      onTestFinished(() => proxy.close());
      const index = ['--read-index', proxy.url, '--space', `silent_${process.pid}`];
      const server = await startServer({ arguments: index });
      onTestFinished(() => server.dispose());
      const ended = Promise.withResolvers<undefined>();
      onTestFinished(() => ended.resolve(undefined));
      proxy.intercept(() => ended.promise);

      const summary = async () => {
        const signal = AbortSignal.timeout(BEFORE_THE_LIMIT_MS);
        const answer = await fetch(`${server.url}/_varve/state`, { signal });
        const { data } = (await answer.json()) as {
          readonly data: { readonly summary: { readonly text: string } };
        };
        return data.summary.text;
      };
      await expect.poll(summary, { timeout: 60_000 }).toMatch(/^Elasticsearch at .* does not answer/);
      const begun = performance.now();
      const status = await runVarve(['status', '--data', server.data]);
      expect(status.stdout).toMatch(/Elasticsearch at .* does not answer/);
      console.log(`varve status took ${Math.round(performance.now() - begun)} ms`);
    });
  },
);
