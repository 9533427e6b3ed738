/** Escaping: text as HTML text or as the value of an attribute in double quotes. */
export const escape = (text: string): string => text.replace(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`);
