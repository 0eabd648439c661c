import type { WriterReport } from '../../projections/index-writer/writer-report.ts';

/** Messages for operators, in the shape of pino's logger. */
export type Report = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
  /** True once this server has answered. From then on it waits for a cluster that refuses its requests (see `retryOutages`). */
  hasServed?: boolean;
};

/** Creates a report that can be marked. `hasServed`: an earlier worker of the server has answered. */
export function createReport(logger: Report, hasServed: boolean): Report {
  return {
    info: (...what) => logger.info(...what),
    warn: (...what) => logger.warn(...what),
    error: (...what) => logger.error(...what),
    hasServed,
  };
}

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
