# frozen_string_literal: true

# The contest's service for Puma: bodies as `Body-Conf` asks for them, the same headers, parts and
# sizes as the others answer with. BODY_FOLDER holds the files of `i`, which the harness makes.

PART_BYTES = 1024
FOLDER = ENV.fetch('BODY_FOLDER')
HEADERS = 25.times.to_h { |number| ["x-my-header-#{number}", (number.to_s(16) * 50)[0, 50]] }
                  .merge('content-type' => 'text/plain; charset=utf-8').freeze
OTHER = "#{'-' * (PART_BYTES - 1)}\n"
BODIES = {} # rubocop:disable Style/MutableConstant
LOCK = Mutex.new

def parts(kilobytes, delay)
  LOCK.synchronize do
    BODIES[[kilobytes, delay]] ||= begin
      first = +"#{Process.pid}\nHello World\n"
      first << "Slept #{delay}\n" if delay
      first = "#{first.ljust(PART_BYTES - 1, '-')}\n"
      [first] + Array.new(kilobytes - 1, OTHER)
    end
  end
end

def string(kilobytes, delay)
  list = parts(kilobytes, delay)
  LOCK.synchronize { BODIES[[kilobytes, delay, :whole]] ||= list.join }
end

run(lambda do |env|
  delay = env['HTTP_DLY']
  sleep(delay.to_f.clamp(0, 60)) if delay
  _, kind, digits = *(env['HTTP_BODY_CONF'] || 's1').match(/\A([acis]?)(\d{1,5})\z/)
  kilobytes = digits.to_i
  next [500, {}, []] if kilobytes < 1

  headers = HEADERS.dup
  body =
    case kind
    when 'a' then parts(kilobytes, delay)
    when 'c' then parts(kilobytes, delay).each
    when 'i' then File.open(File.join(FOLDER, format('body_io_%04d.txt', kilobytes)))
    else [string(kilobytes, delay)]
    end
  headers['content-length'] = (kilobytes * PART_BYTES).to_s unless kind == 'c'
  [200, headers, body]
end)
