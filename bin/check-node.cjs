// Says which Node.js this program needs. It runs before anything else, on every Node.js there is: no newer syntax here.
'use strict';

var needed = parseInt(require('../package.json').engines.node.replace(/\D*/, ''), 10);

if (parseInt(process.versions.node, 10) < needed) {
  console.error(
    'agent-server needs Node.js ' +
      needed +
      ' or newer, and this is Node.js ' +
      process.versions.node +
      ' (' +
      process.execPath +
      ').\nInstall it from https://nodejs.org, or run: npx -p node@' +
      needed +
      ' -p agent-server agent-server',
  );
  process.exit(1);
}
