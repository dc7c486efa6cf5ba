import type { Server } from 'node:http';
import Fastify, { type FastifyHttpOptions, type FastifyInstance, type FastifyRequest } from 'fastify';
import { errorPolicy } from '../base/error-policy.ts';
import { registerCallers } from './access/authentication.ts';
import { refusalLog } from './access/refusal-log.ts';
import { ActiveRuns } from './active-runs.ts';
import { type HttpConfig, type HttpDeps, httpDefaults } from './deps.ts';
import { registerDevUi } from './dev-ui.ts';
import { defaultParts, developmentParts } from './development-parts.ts';
import { problemSender } from './errors/problems.ts';
import { registerCors } from './guards/cors.ts';
import { guardHook, newGuard } from './guards/request-guard.ts';
import { requestIdOf } from './guards/request-id.ts';
import { isUpgrade, originForm } from './guards/request-target.ts';
import { CallerLimits, streamLimitHook } from './limits/caller-limits.ts';
import { failureLimit, type LimitFailures, requestRateHook } from './limits/request-rate.ts';
import { registerWebSockets } from './live/accept.ts';
import { LiveSockets } from './live/sockets.ts';
import { fastifyPath, mount } from './mount.ts';
import { limitBodyIdleTime } from './requests/body-idle-timeout.ts';
import { bodyMemoryLimiter } from './requests/body-memory-limit.ts';
import { limitConnections, onClientError } from './requests/connection-limits.ts';
import { withDefaultApp } from './requests/default-app.ts';
import { readJsonBody } from './requests/json-body.ts';
import { registerUploads } from './requests/uploads.ts';
import { Ticker } from './responses/ticker.ts';
import { type Route, routeTable } from './route-table.ts';
import { pagesAccess } from './routes/dev-ui.ts';
import { isLivePath } from './routes/live.ts';
import { showsThrown } from './surface.ts';
import { unknownRoute } from './unknown-route.ts';

const ticksPerKeepAlive = 15;

/** Builds the server: everything but `listen`. Closing it drains the runs (see `HttpConfig.shutdownGraceMs`). */
export async function buildApp(deps: HttpDeps): Promise<FastifyInstance> {
  const config: HttpConfig = { ...httpDefaults, ...deps.config };
  const { authenticator } = deps;
  const knowsCallers = authenticator !== undefined;
  const development = config.development ?? (knowsCallers ? new Set(developmentParts) : defaultParts(config.host));
  const policy = {
    showsThrown: !knowsCallers && showsThrown(config.host, development),
    folders: [process.cwd()],
    log: deps.log,
  };
  const errors = deps.errors ?? errorPolicy(policy);
  const sendProblem = problemSender(deps.log, errors);
  const app = Fastify({ ...serverOptions(config), frameworkErrors: sendProblem });
  limitConnections(app.server, config);

  let closing = false;
  const isClosing = (): boolean => closing;
  const active = new ActiveRuns(config.detachedRunMs);
  const tickMs = Math.max(1, Math.min(config.keepAliveMs, config.stallMs) / ticksPerKeepAlive);
  const sse = {
    ticker: new Ticker(tickMs),
    keepAliveTicks: config.keepAliveMs / tickMs,
    stallTicks: config.stallMs / tickMs,
    errors,
    ...(authenticator && { expiryOf: (request: FastifyRequest) => principalOf(request)?.expiresAt }),
  };
  const live = new LiveSockets(config.livePingMs);
  const idleTicks = config.liveIdleMs / config.livePingMs;
  const { defaultApp } = config;
  const limits = { artifactLimitBytes: config.artifactLimitBytes, bodyLimitBytes: config.bodyLimitBytes };
  const callerLimits = new CallerLimits({
    ...config.callerLimits,
    principalOf: (request) => principalOf(request),
    knowsCallers,
  });
  const limitFailures: LimitFailures = authenticator
    ? await failureLimit(app, config.failedAuthPerMinute)
    : (_request, authenticate) => authenticate();
  const operations = routeTable({
    ...deps,
    ...limits,
    errors,
    development,
    active,
    callerLimits,
    limitFailures,
    sse,
    live,
    idleTicks,
    defaultApp,
    isClosing,
  });

  // By default Fastify parses a QUERY body first; here QUERY is an unknown method like any other.
  app.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
  app.setNotFoundHandler(unknownRoute(operations));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, readJsonBody);
  // Registered first, so that it closes the connections of requests that the guard refuses.
  await registerWebSockets(app, config.bodyLimitBytes, { log: deps.log, errors });
  app.addHook('onRequest', guardHook(newGuard(config), isClosing));
  await registerCors(app, config);
  const { callerOf, principalOf } = registerCallers(app, {
    authenticator,
    parts: development,
    limitFailures,
    pages: pagesAccess(deps.login),
  });
  if (authenticator) {
    const logRefusal = refusalLog(deps.log);
    app.setErrorHandler((error, request, reply) => {
      logRefusal(error, request, principalOf(request));
      sendProblem(error, request, reply);
    });
  } else {
    app.setErrorHandler(sendProblem);
  }
  if (config.requestsPerMinute !== undefined || authenticator) {
    const { requestsPerMinute } = config;
    const isCounted = countsRequests(operations);
    const rate = { requestsPerMinute, counts: deps.requestCounts, principalOf, isCounted };
    app.addHook('onRequest', await requestRateHook(app, rate));
  }
  if (callerLimits.isOn) app.addHook('onRequest', streamLimitHook(callerLimits));
  app.addHook('onRequest', bodyMemoryLimiter(config));
  app.addHook('preClose', () => {
    closing = true;
    return Promise.all([
      live.close(),
      active.drain(config.shutdownGraceMs),
      deps.runs.drain(config.shutdownGraceMs),
    ]).then(() => {});
  });
  if (config.builderRoot !== undefined) await registerUploads(app, config.uploadIdleMs);
  await registerDevUi(app, { ...config, callersKnown: knowsCallers }, deps.log);
  mount(
    app,
    operations.filter(({ takesBytes }) => !takesBytes),
    { all: operations, callerOf },
  );
  await app.register(async (bytes) => {
    const streamsBody = deps.services.artifacts?.saveArtifactContent !== undefined; // others hold the body whole
    bytes.addHook('onRoute', (route) => {
      route.config = { ...route.config, streamsBody };
    });
    bytes.addHook('onRequest', (request, reply, done) => {
      limitBodyIdleTime(request.raw, reply.raw, config.uploadIdleMs);
      done();
    });
    bytes.removeAllContentTypeParsers();
    bytes.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    mount(
      bytes,
      operations.filter(({ takesBytes }) => takesBytes),
      { all: operations, callerOf },
    );
  });
  return app;
}

/** Which requests count: not those to public routes, such as health checks, nor those to the pages of the web UI, nor OPTIONS. */
function countsRequests(operations: readonly Route[]): (request: FastifyRequest) => boolean {
  const open = operations.filter(({ surface }) => surface === 'public').flatMap(({ paths }) => paths);
  const urls = new Set(open.map(fastifyPath));
  return ({ method, routeOptions: { url = '' } }) =>
    method !== 'OPTIONS' && !urls.has(url) && !url.startsWith('/dev-ui');
}

/** Limits on the size and duration of requests. */
function serverOptions(config: HttpConfig): FastifyHttpOptions<Server> {
  return {
    logger: false, // a child logger per request is dear; the error handler logs what matters
    bodyLimit: config.bodyLimitBytes,
    forceCloseConnections: true,
    return503OnClosing: false, // the guard answers in our format
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    clientErrorHandler: onClientError,
    routerOptions: { maxParamLength: 16_384 },
    genReqId: requestIdOf,
    rewriteUrl: (request) => {
      const target = originForm(request);
      return config.defaultApp === undefined ? target : withDefaultApp(target, config.defaultApp);
    },
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 16_384,
      requireHostHeader: false, // the guard answers in our format
      shouldUpgradeCallback: ({ headers, url = '' }) => isUpgrade(headers) && isLivePath(url),
    },
  };
}
