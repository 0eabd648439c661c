import type { WriterReport } from '../../projections/index-writer/index-writer.ts';
import type { Report } from './report.ts';

/** Says to operators what an index writer meets. */
export function reportWriter(report: Report): (what: WriterReport) => void {
  return (what) => {
    switch (what.kind) {
      case 'stuck':
        report.warn({ reason: what.reason }, 'Elasticsearch takes no documents, trying again');
        break;
      case 'going on':
        report.warn({}, 'Elasticsearch takes documents again');
        break;
      case 'refused':
        for (const document of what.documents) report.error(document, 'Elasticsearch refuses a document');
    }
  };
}
