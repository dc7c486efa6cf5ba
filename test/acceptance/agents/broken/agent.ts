throw new Error('This app is broken on purpose');
