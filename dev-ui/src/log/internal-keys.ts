/** Where the interface keeps what it knows about a session: beside ADK's own display name. */
export const metadataKey = '__session_metadata__';

/** State keys of the interface or of the protocol, which nobody wants to see. */
export const isInternalKey = (key: string): boolean => key === metadataKey || key.startsWith('_adk_');
