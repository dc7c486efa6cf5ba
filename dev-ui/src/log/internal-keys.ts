/** The state key in which the web UI keeps metadata of a session, beside ADK's own display name. */
export const metadataKey = '__session_metadata__';

/** State keys of the web UI or of the protocol, which are hidden. */
export const isInternalKey = (key: string): boolean => key === metadataKey || key.startsWith('_adk_');
