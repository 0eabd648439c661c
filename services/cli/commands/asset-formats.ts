import { FILE_TYPE } from '../../../shared/schema/content-type.ts';
import type { DetectedMedia } from '../../assets/detect-media.ts';
import { isResized } from '../../assets/pictures/format-sizes.ts';
import { wantsFormats } from '../../assets/pictures/make-formats.ts';
import { showProgress } from '../output/import-progress.ts';
import type { OperatorSettings } from '../settings/settings.ts';
import { readLiveGraph } from './live-graph-file.ts';
import { requireDataDirectory, withOperations } from './operate.ts';

type FileFacts = Omit<DetectedMedia, 'ext'> & {
  readonly documentId: string;
  readonly name: string;
  readonly formats: object | null;
};

/** Number of files in a request. A server that is stopping gets no further request. */
const BATCH = 50;

/**
 * `varve assets formats`: lets the running server make the smaller pictures of files that have none. Each one is stored
 * at once, so the command can be repeated after an interruption. Throws at the end if some files still have none.
 */
export async function makeAssetFormats(settings: OperatorSettings): Promise<void> {
  requireDataDirectory(settings);
  const pictures = picturesWithoutFormats(settings.data);
  const left: string[] = [];
  let made = 0;
  await withOperations(settings, async (operations) => {
    const progress = showProgress(pictures.length, 'making formats');
    for (let i = 0; i < pictures.length; i += BATCH) {
      const batch = pictures.slice(i, i + BATCH);
      const documentIds = batch.map(({ documentId }) => documentId);
      for await (const line of operations.run('formats', { documentIds })) {
        progress.advance(1);
        if (line.kind === 'made') made++;
        const { name } = batch.find(({ documentId }) => documentId === line.documentId) ?? { name: '' };
        if (line.kind === 'left') left.push(`  ${name} (${line.documentId}): ${line.reason}`);
      }
    }
    progress.end();
  });
  console.log(`${made} pictures got formats`);
  if (left.length > 0) throw new Error(`these pictures have no formats\n${left.join('\n')}`);
}

function picturesWithoutFormats(data: string): readonly FileFacts[] {
  const files = readLiveGraph(data, (graph) => [...graph.sources(FILE_TYPE)]) ?? [];
  return (files as readonly FileFacts[]).filter(
    ({ mime, width, height, formats }) => formats === null && isResized(mime) && wantsFormats(width, height),
  );
}
