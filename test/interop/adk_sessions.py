"""ADK for Python's session services at work: one command a line on stdin, one answer in JSON a line on stdout."""

import asyncio
import json
import sys

from google.adk.events import Event
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService


def open_service(kind: str, path: str):
    if kind == "sqlite":
        return SqliteSessionService(path)
    return DatabaseSessionService(f"sqlite+aiosqlite:///{path}")


async def perform(service, key, command):
    if command["do"] == "create":
        session = await service.create_session(**key, state=command["state"])
    else:
        session = await service.get_session(**key)
    for fields in command.get("events", []):
        await service.append_event(session, Event.model_validate(fields))
    if command["do"] == "list":
        listed = await service.list_sessions(app_name=key["app_name"], user_id=key["user_id"])
        return [[one.id, one.last_update_time] for one in listed.sessions]
    if command["do"] == "delete":
        await service.delete_session(**key)
        return None
    session = await service.get_session(**key)
    return session and session.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    kind, path = sys.argv[1:]
    service = open_service(kind, path)
    for line in iter(sys.stdin.readline, ""):
        command = json.loads(line)
        try:
            answer = {"value": await perform(service, command["key"], command)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
