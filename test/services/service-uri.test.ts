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
  ['postgresql+asyncpg://db/agents?sslmode=require', { kind: 'postgres', uri: 'postgres://db/agents?sslmode=require' }],
])('reads %s', (text, place) => {
  expect(parseServiceUri('sessions', text)).toEqual(place);
});

it.each(['', 'sqlite:', 'postgres:', 'postgres:db', 'memory:x', 'mysql://db/agents', 'data.db', 'file:/x'])(
  'refuses %j for sessions, and says what there is',
  (text) => {
    expect(() => parseServiceUri('sessions', text)).toThrow(/must be a place for sessions: memory:, sqlite:PATH/);
  },
);

it('takes relative paths from a folder', () => {
  expect(placeUri('sqlite:./data.db', '/srv')).toBe('sqlite:/srv/data.db');
  expect(placeUri('sqlite:///var/data.db', '/srv')).toBe('sqlite:/var/data.db');
  expect(placeUri('file:artifacts', '/srv')).toBe('file:/srv/artifacts');
  for (const uri of ['memory:', 'postgres://db/agents', 'sqlite::memory:']) expect(placeUri(uri, '/srv')).toBe(uri);
});
