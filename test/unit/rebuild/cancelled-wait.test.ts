import { expect, it, onTestFinished } from 'vitest';
import { openGenerationStore } from '../../../projections/generations/generation-store.ts';
import { openContentGraph } from '../../../projections/graph/content-graph.ts';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';
import { type RebuildHost, RebuildInterrupted } from '../../../services/rebuild/rebuild-host.ts';
import { verifyGeneration } from '../../../services/rebuild/verify-generation.ts';
import { dataForTest } from '../../support/data-for-test.ts';
import { createLog, DEFINITIONS } from '../graph-fixture.ts';

it('a rebuild that waits for the live graph ends when it is cancelled', async () => {
  const data = dataForTest();
  const store = openGenerationStore(data);
  onTestFinished(store.close);
  const rebuild = store.begin({ graph: true }, '2026-11-30T00:00:00.000Z');
  openContentGraph(graphFile(data, store.live().number)).close();
  const made = openContentGraph(graphFile(data, rebuild.generation));
  onTestFinished(made.close);
  made.apply(createLog().add(...DEFINITIONS));
  const graphs = { made, derived: made, close: made.close };
  const verified = verifyGeneration({ data, store } as RebuildHost, rebuild, graphs).catch(
    (error: unknown) => error,
  );
  store.want(rebuild.id, 'cancel');
  expect(await verified).toBeInstanceOf(RebuildInterrupted);
});
