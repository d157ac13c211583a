# An image that builds, runs and checks Ascend programs. Wheels come from `cargo xtask release`, or from a release's page:
#   docker build --build-context wheels=target/release-files -t jumar .
#   docker run --rm -v "$PWD:/work" jumar sh -c 'c++ -g app.cpp -o app -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64 -lascendcl && jumar check -- ./app'
FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends g++ make cmake python3-venv && rm -rf /var/lib/apt/lists/*
RUN --mount=from=wheels,target=/wheels python3 -m venv /opt/jumar && /opt/jumar/bin/pip install --no-cache-dir /wheels/jumar-*_$(uname -m).whl
ENV ASCEND_HOME_PATH=/usr/local/Ascend/ascend-toolkit/latest PATH=/opt/jumar/bin:$PATH
RUN mkdir -p $(dirname $ASCEND_HOME_PATH) && ln -s $(jumar prefix) $ASCEND_HOME_PATH && jumar doctor
ENV LD_LIBRARY_PATH=$ASCEND_HOME_PATH/lib64
WORKDIR /work
