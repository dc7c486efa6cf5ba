import { expect, it } from 'vitest';
import { parseServiceUri, placeUri } from '../../src/services/service-uri.ts';

it.each([
  ['memory:', { kind: 'memory' }],
  ['memory://', { kind: 'memory' }],
  ['sqlite::memory:', { kind: 'memory' }],
  ['sqlite://:memory:', { kind: 'memory' }],
  ['sqlite:///:memory:', { kind: 'memory' }],
  ['sqlite:data.db', { kind: 'sqlite', path: 'data.db' }],
  ['sqlite:./data.db', { kind: 'sqlite', path: './data.db' }],
  ['sqlite:/var/data.db', { kind: 'sqlite', path: '/var/data.db' }],
  ['sqlite://data.db', { kind: 'sqlite', path: 'data.db' }],
  ['sqlite:///var/data.db', { kind: 'sqlite', path: '/var/data.db' }],
  ['sqlite:////var/data.db', { kind: 'sqlite', path: '/var/data.db' }],
  ['sqlite:///./data.db', { kind: 'sqlite', path: './data.db' }],
  ['sqlite+aiosqlite:///../data.db', { kind: 'sqlite', path: '../data.db' }],
  ['postgres://ada:secret@db/agents', { kind: 'postgres', uri: 'postgres://ada:secret@db/agents' }],
  ['firestore://my-project', { kind: 'firestore', project: 'my-project', database: '(default)', prefix: 'agent' }],
  [
    'firestore://my-project/eu?prefix=team',
    { kind: 'firestore', project: 'my-project', database: 'eu', prefix: 'team' },
  ],
  ['firestore://p1/(default)', { kind: 'firestore', project: 'p1', database: '(default)', prefix: 'agent' }],
  ['agentengine://123', { kind: 'agentengine', id: '123' }],
  [
    'agentengine://projects/p/locations/eu/reasoningEngines/123',
    { kind: 'agentengine', project: 'p', location: 'eu', id: '123' },
  ],
  ['postgresql+asyncpg://db/agents?sslmode=require', { kind: 'postgres', uri: 'postgres://db/agents?sslmode=require' }],
])('reads %s', (text, place) => {
  expect(parseServiceUri('sessions', text)).toEqual(place);
});

it.each([
  ['s3://agents', { kind: 's3', bucket: 'agents', prefix: '' }],
  ['s3://agents/a/b/?region=eu-west-1', { kind: 's3', bucket: 'agents', prefix: 'a/b/', region: 'eu-west-1' }],
  [
    's3://my.agents/?endpoint=http://s:9000',
    { kind: 's3', bucket: 'my.agents', prefix: '', endpoint: 'http://s:9000' },
  ],
  ['gs://agents', { kind: 'gs', bucket: 'agents', prefix: '' }],
  ['gs://agents/a/b', { kind: 'gs', bucket: 'agents', prefix: 'a/b/' }],
])('reads %s for artifacts', (text, place) => {
  expect(parseServiceUri('artifacts', text)).toEqual(place);
});

it.each([
  's3:',
  's3:agents',
  's3://',
  's3:///a',
  's3://agents?endpoint=s:9000',
  's3://agents?speed=high',
  'gs://',
  'gs://agents?region=eu',
])('refuses %s for artifacts', (text) => {
  expect(() => parseServiceUri('artifacts', text)).toThrow(/must be a place for artifacts: .*s3:\/\/BUCKET/);
});

it.each([
  '',
  'sqlite:',
  'postgres:',
  'postgres:db',
  'memory:x',
  'mysql://db/agents',
  'data.db',
  'file:/x',
  's3://agents',
  'firestore:',
  'rag://123',
  'agentengine:',
  'agentengine://a b',
  'agentengine://projects/p/locations/eu/ragCorpora/1',
  'agentengine://projects/p/locations/eu/reasoningEngines',
  'agentengine://projects/p/locations/eu/reasoningEngines/1/sessions',
  'firestore://',
  'firestore://p1/a/b',
  'firestore://p1?prefix=__a',
  'firestore://p1?speed=high',
])('refuses %j for sessions, and says what there is', (text) => {
  expect(() => parseServiceUri('sessions', text)).toThrow(/must be a place for sessions: memory:, sqlite:PATH/);
});

it.each([
  ['rag://123', { kind: 'rag', id: '123' }],
  ['rag://projects/p/locations/eu/ragCorpora/1', { kind: 'rag', project: 'p', location: 'eu', id: '1' }],
  ['agentengine://7', { kind: 'agentengine', id: '7' }],
  ['firestore://my-project', { kind: 'firestore', project: 'my-project', database: '(default)', prefix: 'agent' }],
])('reads %s for memories', (text, place) => {
  expect(parseServiceUri('memories', text)).toEqual(place);
});

it('takes relative paths from a folder', () => {
  expect(placeUri('sqlite:./data.db', '/srv')).toBe('sqlite:/srv/data.db');
  expect(placeUri('sqlite:///var/data.db', '/srv')).toBe('sqlite:/var/data.db');
  expect(placeUri('file:artifacts', '/srv')).toBe('file:/srv/artifacts');
  for (const uri of ['memory:', 'postgres://db/agents', 'sqlite::memory:']) expect(placeUri(uri, '/srv')).toBe(uri);
});
