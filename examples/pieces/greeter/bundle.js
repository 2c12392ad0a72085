export const greet = ({ name }, ctx) => {
  ctx.log('greeting', name);
  return `${ctx.secrets.salutation ?? 'Hello'}, ${name}`;
};
