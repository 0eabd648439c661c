import type { IncomingMessage } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Tracing } from './tracing.ts';

const CLOSE_MS = 3_000;

/**
 * Creates tracing that sends spans by OTLP over HTTP. It is registered for the whole process, so that libraries with their own spans take
 * part.
 */
export function createOpenTelemetry(environment: NodeJS.ProcessEnv, version: string): Tracing {
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'varve', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(environment),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const tracer = trace.getTracer('varve', version);
  const requests = new WeakMap<IncomingMessage, Span>();
  return {
    span: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, (span) => untilSettled(span, work)),
    request(request, response, handle) {
      const parent = propagation.extract(ROOT_CONTEXT, request.headers);
      const options = { kind: SpanKind.SERVER, attributes: requestAttributes(request) };
      const span = tracer.startSpan(request.method ?? '', options, parent);
      requests.set(request, span);
      response.once('close', () => {
        span.setAttribute('http.response.status_code', response.statusCode);
        if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      context.with(trace.setSpan(parent, span), handle);
    },
    routed(request, route, requestId) {
      const attributes = { 'http.route': route, 'varve.request.id': requestId };
      requests.get(request)?.updateName(`${request.method} ${route}`).setAttributes(attributes);
    },
    traceId: () => trace.getActiveSpan()?.spanContext().traceId,
    // The exporter retries a collector that does not answer for longer than a process may take to stop.
    close: () => Promise.race([provider.shutdown(), after(CLOSE_MS, undefined, { ref: false })]),
  };
}

/** Returns the attributes of a request. They omit the query string, whose filters may contain private search texts. */
function requestAttributes({ method, url = '' }: IncomingMessage): Attributes {
  return { 'http.request.method': method ?? '', 'url.path': url.split('?', 1)[0] ?? '' };
}

function untilSettled<Result>(span: Span, work: () => Result): Result {
  const failed = (error: unknown): never => {
    span.recordException(error as Error);
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    throw error;
  };
  try {
    const result = work();
    if (!(result instanceof Promise)) {
      span.end();
      return result;
    }
    const settled = result.then((value) => {
      span.end();
      return value;
    }, failed);
    return settled as Result;
  } catch (error) {
    return failed(error);
  }
}

/** Returns the sampler that the variables of OpenTelemetry's specification name. The SDK does not read them itself. */
function samplerOf({
  OTEL_TRACES_SAMPLER: name,
  OTEL_TRACES_SAMPLER_ARG: ratio,
}: NodeJS.ProcessEnv): Sampler {
  const byRatio = () => new TraceIdRatioBasedSampler(ratio === undefined ? 1 : Number(ratio));
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return byRatio();
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: byRatio() });
    default:
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
  }
}
