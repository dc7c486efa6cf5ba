import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { Agent, AgentLoader } from '../../core/runtime.ts';
import type { SessionService } from '../../core/services.ts';
import { lenient } from '../../schemas/lenient.ts';
import { GraphResponse } from '../../schemas/records.ts';
import { eventGraph } from '../graphs/event-graph.ts';
import { agentAt, levelsOf, structureGraph } from '../graphs/structure-graph.ts';
import { type Operation, operation } from '../operation.ts';
import { AppParams, EventParams, QueryFlag } from '../requests/path-params.ts';
import { toolNamesOf } from '../views/agent-tree.ts';

interface GraphRoutes {
  readonly loader: AgentLoader;
  readonly sessions: SessionService;
}

const tag = 'Graphs';
const ThemeQuery = lenient({ darkMode: QueryFlag.optional() });
const ImageQuery = lenient({ darkMode: QueryFlag.optional(), node: z.string().optional() });

export function graphOperations({ loader, sessions }: GraphRoutes): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: [
        '/apps/{appName}/users/{userId}/sessions/{sessionId}/events/{eventId}/graph',
        '/dev/apps/{appName}/users/{userId}/sessions/{sessionId}/events/{eventId}/graph',
      ],
      tag,
      access: { role: 'developer', user: 'path' },
      summary: 'Draw the agent tree with what an event did in it',
      params: EventParams,
      response: { schema: GraphResponse },
      async handle({ params: { eventId, ...key } }) {
        const session = await sessions.getSession(key);
        if (!session) throw new AppError('session_not_found', `Session not found: ${key.sessionId}`);
        const event = session.events.find(({ id }) => id === eventId);
        if (!event) throw new AppError('event_not_found', `Event not found: ${eventId}`);
        const app = await loader.loadAgent(key.appName);
        return { dotSrc: eventGraph(app.rootAgent, event) };
      },
    }),
    operation({
      method: 'GET',
      paths: ['/dev/apps/{appName}/graph', '/apps/{appName}/graph'],
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Draw the agent tree',
      params: AppParams,
      query: ThemeQuery,
      response: { schema: GraphResponse },
      handle: async ({ params, query }) => ({
        dotSrc: eventGraph((await loader.loadAgent(params.appName)).rootAgent, undefined, query.darkMode ?? false),
      }),
    }),
    operation({
      method: 'GET',
      paths: ['/dev/apps/{appName}/build_graph', '/dev/apps/{appName}/build-graph', '/dev/build_graph/{appName}'],
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Describe the agent tree',
      params: AppParams,
      response: { schema: z.looseObject({ name: z.string(), root_agent: z.unknown(), readme: z.string().optional() }) },
      async handle({ params }) {
        const app = await loader.loadAgent(params.appName);
        return {
          name: app.name,
          root_agent: describeAgent(app.rootAgent),
          plugins: app.plugins?.map(({ name }) => ({ name })),
          readme: app.readme,
        };
      },
    }),
    operation({
      method: 'GET',
      paths: [
        '/dev/apps/{appName}/build_graph_image',
        '/dev/apps/{appName}/build-graph-image',
        '/dev/build_graph_image/{appName}',
      ],
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Draw each level of the agent tree; the level named by "node" also stands at the top',
      params: AppParams,
      query: ImageQuery,
      response: { schema: z.object({ dotSrc: z.string() }).catchall(GraphResponse) },
      async handle({ params, query: { darkMode = false, node = '' } }) {
        const root = (await loader.loadAgent(params.appName)).rootAgent;
        const wanted = agentAt(root, node);
        if (!wanted) throw new AppError('not_found', `Node not found: ${node}`);
        return { ...levelImages(root, darkMode), dotSrc: structureGraph(wanted, darkMode) };
      },
    }),
  ];
}

/** Each level under its path, and once more with the root's name in front: the ADK UI looks for either. */
function levelImages(root: Agent, dark: boolean): Record<string, GraphResponse> {
  const images = new Map<string, GraphResponse>();
  for (const [path, agent] of levelsOf(root)) {
    const image = { dotSrc: structureGraph(agent, dark) };
    images.set(path, image);
    if (path) images.set(`${root.name}/${path}`, image);
  }
  return Object.fromEntries(images);
}

function describeAgent(agent: Agent): Record<string, unknown> {
  const tools = toolNamesOf(agent).map((name) => ({ name, type: 'tool' }));
  const children = agent.subAgents?.map(describeAgent) ?? [];
  return {
    name: agent.name,
    type: 'agent',
    kind: agent.kind,
    description: agent.description,
    model: agent.model,
    ...(tools.length > 0 ? { tools } : {}),
    ...(children.length > 0 ? { sub_agents: children } : {}),
  };
}
