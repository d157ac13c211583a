// Tagged sends and receives over Gloo's TCP transport, behind a C interface.
#include "jumar_gloo.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

namespace transport = gloo::transport;

struct jumar_gloo_mesh {
    std::shared_ptr<transport::Device> device;
    std::shared_ptr<transport::Context> context;
    int rank;
    int size;
};

struct jumar_gloo_buffer {
    // Declared first: Gloo's buffer uses the context until it is gone.
    std::shared_ptr<transport::Device> device;
    std::shared_ptr<transport::Context> context;
    std::unique_ptr<transport::UnboundBuffer> buffer;
    int rank;
    int size;
};

namespace {

void describe(const char *text, char *error, size_t capacity)
{
    if (error == nullptr || capacity == 0) {
        return;
    }
    const size_t length = std::min(std::strlen(text), capacity - 1);
    std::memcpy(error, text, length);
    error[length] = 0;
}

// Runs `work`, and turns an exception into a sentence and `failure`.
template <typename Work, typename Result>
Result guarded(char *error, size_t capacity, Result failure, Work work) noexcept
{
    try {
        return work();
    } catch (const std::exception &exception) {
        describe(exception.what(), error, capacity);
    } catch (...) {
        describe("an exception of unknown type", error, capacity);
    }
    return failure;
}

// Returns the device of an address. Each device has a thread, so communicators of one address share it while one of them lives.
std::shared_ptr<transport::Device> device_at(const std::string &host)
{
    // Never destroyed: threads may come here while the process ends.
    static auto &lock = *new std::mutex;
    static auto &devices = *new std::map<std::string, std::weak_ptr<transport::Device>>;
    const std::lock_guard<std::mutex> guard(lock);
    auto &known = devices[host];
    auto device = known.lock();
    if (!device) {
        transport::tcp::attr attr;
        attr.hostname = host;
        device = transport::tcp::CreateDevice(attr);
        known = device;
    }
    return device;
}

} // namespace

uint32_t jumar_gloo_version(void)
{
    return JUMAR_GLOO_VERSION;
}

jumar_gloo_mesh *jumar_gloo_create(const char *host, int32_t rank, int32_t size, uint64_t timeout_ms, char *error, size_t capacity)
{
    return guarded(error, capacity, static_cast<jumar_gloo_mesh *>(nullptr), [&] {
        auto mesh = std::make_unique<jumar_gloo_mesh>();
        mesh->rank = rank;
        mesh->size = size;
        mesh->device = device_at(host);
        mesh->context = mesh->device->createContext(rank, size);
        mesh->context->setTimeout(std::chrono::milliseconds(timeout_ms));
        for (int other = 0; other < size; other++) {
            if (other != rank) {
                mesh->context->createPair(other);
            }
        }
        return mesh.release();
    });
}

int64_t jumar_gloo_address(jumar_gloo_mesh *mesh, int32_t rank, uint8_t *bytes, size_t capacity)
{
    return guarded(nullptr, 0, int64_t{-1}, [&] {
        const auto address = mesh->context->getPair(rank)->address().bytes();
        if (address.size() > capacity) {
            return int64_t{-1};
        }
        std::memcpy(bytes, address.data(), address.size());
        return static_cast<int64_t>(address.size());
    });
}

int32_t jumar_gloo_connect(jumar_gloo_mesh *mesh, int32_t rank, const uint8_t *bytes, size_t length, char *error, size_t capacity)
{
    return guarded(error, capacity, int32_t{JUMAR_GLOO_FAILED}, [&] {
        mesh->context->getPair(rank)->connect(std::vector<char>(bytes, bytes + length));
        return int32_t{JUMAR_GLOO_DONE};
    });
}

void jumar_gloo_close(jumar_gloo_mesh *mesh)
{
    for (int other = 0; other < mesh->size; other++) {
        guarded(nullptr, 0, 0, [&] {
            auto &pair = mesh->context->getPair(other);
            if (pair) {
                pair->close();
            }
            return 0;
        });
    }
}

void jumar_gloo_destroy(jumar_gloo_mesh *mesh)
{
    guarded(nullptr, 0, 0, [&] {
        delete mesh;
        return 0;
    });
}

jumar_gloo_buffer *jumar_gloo_prepare(jumar_gloo_mesh *mesh, void *data, size_t bytes, char *error, size_t capacity)
{
    return guarded(error, capacity, static_cast<jumar_gloo_buffer *>(nullptr), [&] {
        auto buffer = std::make_unique<jumar_gloo_buffer>();
        buffer->device = mesh->device;
        buffer->context = mesh->context;
        buffer->buffer = mesh->context->createUnboundBuffer(data, bytes);
        buffer->rank = mesh->rank;
        buffer->size = mesh->size;
        return buffer.release();
    });
}

int32_t jumar_gloo_send(jumar_gloo_buffer *buffer, int32_t rank, uint64_t tag, char *error, size_t capacity)
{
    return guarded(error, capacity, int32_t{JUMAR_GLOO_FAILED}, [&] {
        buffer->buffer->send(rank, tag);
        return int32_t{JUMAR_GLOO_DONE};
    });
}

int32_t jumar_gloo_receive(jumar_gloo_buffer *buffer, int32_t rank, uint64_t tag, char *error, size_t capacity)
{
    return guarded(error, capacity, int32_t{JUMAR_GLOO_FAILED}, [&] {
        if (rank >= 0) {
            buffer->buffer->recv(rank, tag);
            return int32_t{JUMAR_GLOO_DONE};
        }
        std::vector<int> others;
        for (int other = 0; other < buffer->size; other++) {
            if (other != buffer->rank) {
                others.push_back(other);
            }
        }
        buffer->buffer->recv(others, tag);
        return int32_t{JUMAR_GLOO_DONE};
    });
}

int32_t jumar_gloo_wait_send(jumar_gloo_buffer *buffer, uint64_t timeout_ms, char *error, size_t capacity)
{
    return guarded(error, capacity, int32_t{JUMAR_GLOO_FAILED}, [&] {
        const bool done = buffer->buffer->waitSend(nullptr, std::chrono::milliseconds(timeout_ms));
        return int32_t{done ? JUMAR_GLOO_DONE : JUMAR_GLOO_ABORTED};
    });
}

int32_t jumar_gloo_wait_receive(jumar_gloo_buffer *buffer, uint64_t timeout_ms, int32_t *from, char *error, size_t capacity)
{
    return guarded(error, capacity, int32_t{JUMAR_GLOO_FAILED}, [&] {
        int rank = -1;
        const bool done = buffer->buffer->waitRecv(&rank, std::chrono::milliseconds(timeout_ms));
        *from = rank;
        return int32_t{done ? JUMAR_GLOO_DONE : JUMAR_GLOO_ABORTED};
    });
}

void jumar_gloo_abort(jumar_gloo_buffer *buffer)
{
    guarded(nullptr, 0, 0, [&] {
        buffer->buffer->abortWaitRecv();
        buffer->buffer->abortWaitSend();
        return 0;
    });
}

void jumar_gloo_release(jumar_gloo_buffer *buffer)
{
    guarded(nullptr, 0, 0, [&] {
        delete buffer;
        return 0;
    });
}
