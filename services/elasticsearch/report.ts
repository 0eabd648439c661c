import type { WriterReport } from '../../projections/index-writer/writer-report.ts';

/** Messages for operators, in the shape of pino's logger. */
export type Report = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};

/** Reports events of an index writer to operators. */
export function reportWriter(report: Report): (what: WriterReport) => void {
  return (what) => {
    switch (what.kind) {
      case 'stuck':
        report.warn({ reason: what.reason }, 'Elasticsearch accepts no documents, trying again');
        break;
      case 'recovered':
        report.warn({}, 'Elasticsearch accepts documents again');
        break;
      case 'refused':
        for (const { type, documentId, locale, world, reason } of what.documents)
          report.error({ type, documentId, locale, world, reason }, 'Elasticsearch refuses a document');
    }
  };
}
